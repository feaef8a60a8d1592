# SPDX-License-Identifier: BSD-2-Clause
"""Tables and figures of a run of `moderato rfc2544`, compared with those of Spanos et al. (2008).

records       selects the trials of the report
cell_results  evaluates them: throughput, bursts, model
inputs        the inputs of chapters
paper         the paper's own figures
table         a table as Markdown and HTML; paper_tables, detail: the report's tables
plot          the style of figures, as SVG and PNG; figures: the report's figures
profiles      reads the files of `moderato profile`
reproduce     the commands that make the trials again
chapter       the parts of a chapter; chapters: the report's chapters
page          the report as one HTML file; markdown: its tables and figures for docs
build_report  `moderato report`
doc_numbers   numbers that pages repeat; placeholders: writes them there
"""
