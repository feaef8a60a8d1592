#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The page of the box. Two programs in all: to start one takes a hundredth of a second here.
printf 'Content-Type: text/html; charset=utf-8\r\n\r\n'
cat <<'END'
<!doctype html>
<meta name="viewport" content="width=device-width">
<title>moderato</title>
<h1>A router, simulated</h1>
<p>Linux on the RTL of its processor and of its MACs made this page.
<form action="/cgi-bin/variant"><a href="/cgi-bin/variant">Interrupt strategy</a>
<input name="variant" placeholder="napi"> <button>choose</button></form>
<h2>Counters</h2>
<pre>
END
cat /proc/uptime /proc/interrupts /proc/net/dev /proc/net/softnet_stat
echo '</pre>'
