# SPDX-License-Identifier: BSD-2-Clause
"""Tables and figures of a run of `moderato rfc2544`, compared with those of Spanos et al. (2008).

records       which trials the report is about
cell_results  what each of them says: throughput, bursts, model
inputs        what chapters are made from
paper         the paper's own figures
table         a table, as Markdown and HTML; paper_tables, detail: all of them
plot          how a figure looks, as SVG and PNG; figures: all of them
profiles      what `moderato profile` wrote
reproduce     the commands that made the trials
chapter       what a chapter consists of; chapters: all of them
page          everything in one HTML file; markdown: tables and figures for docs
build_report  `moderato report`
doc_numbers   numbers that pages repeat; placeholders: writes them there
"""
