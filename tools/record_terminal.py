#!/usr/bin/env python3
"""Runs a command in a terminal of fixed width and draws what it printed as an SVG picture.

    record_terminal.py --out docs/demo.svg --title "make run" -- COMMAND [ARG...]

Lines appear in the picture when they appeared on the terminal, long pauses shortened. Where animation is not
supported or not wanted, all lines are there at once. The exit code is the command's; the picture is written
only if that is 0. What the command prints is also shown on stderr.
"""
import argparse
import codecs
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

FONT_PX = 14
CELL_W = 8.43  # advance of the usual monospace fonts at 14 px; each run of text is stretched to this grid
LINE_H = 20
PAD = 18
BAR_H = 36
BACKGROUND, BAR, EDGE, TEXT, DIM = "#11151c", "#1b212b", "#2c3544", "#d6dde8", "#8390a5"
PALETTE = ("#3b4252", "#f0717b", "#8fd18b", "#ecc66a", "#6fb1f0", "#c792ea", "#66c7c7", "#d6dde8",
           "#66728a", "#ff8b94", "#a8e6a3", "#ffd98a", "#8fc6ff", "#ddb0f7", "#86e0e0", "#ffffff")
CONTROL = re.compile(
    r"\x1b\[([0-9;?]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78cDEHM]")
# What may still become one of the above when more arrives.
UNFINISHED = re.compile(r"\x1b(\[[0-9;?]*|\][^\x07\x1b]*\x1b?|[()])?\Z")


@dataclass(frozen=True)
class Style:
    colour: str = TEXT
    bold: bool = False
    dim: bool = False

    def css(self):
        weight = ' font-weight="bold"' if self.bold else ""
        return f'fill="{DIM if self.dim and self.colour == TEXT else self.colour}"{weight}'


@dataclass
class Line:
    cells: list = field(default_factory=list)  # (character, Style); after a wide one stands ("", Style)
    at: float = 0.0  # when it last changed


class Terminal:
    """As much of a terminal as a program needs that prints lines: colours, \\r, \\b, erase to end of line."""

    def __init__(self, columns):
        self.columns = columns
        self.lines = [Line()]
        self.column = 0
        self.style = Style()
        self.pending = ""

    def feed(self, text, at):
        text = self.pending + text
        unfinished = UNFINISHED.search(text)
        self.pending = text[unfinished.start():] if unfinished else ""
        text = text[:unfinished.start()] if unfinished else text
        position = 0
        for control in CONTROL.finditer(text):
            self.print(text[position:control.start()], at)
            if control.group(2) == "m":
                self.select_style(control.group(1))
            elif control.group(2) == "K":
                del self.lines[-1].cells[self.column:]
            position = control.end()
        self.print(text[position:], at)

    def print(self, text, at):
        for character in text:
            if character == "\n":
                self.lines.append(Line(at=at))
                self.column = 0
            elif character == "\r":
                self.column = 0
            elif character == "\b":
                self.column = max(0, self.column - 1)
            elif character == "\t":
                self.put_all(" " * (8 - self.column % 8), at)
            elif character >= " ":
                self.put_all(character, at)

    def put_all(self, text, at):
        for character in text:
            wide = unicodedata.east_asian_width(character) in "WF"
            if self.column + 1 + wide > self.columns:
                self.lines.append(Line(at=at))
                self.column = 0
            cells = self.lines[-1].cells
            cells.extend([(" ", Style())] * (self.column - len(cells)))
            new = [(character, self.style)] + ([("", self.style)] if wide else [])
            cells[self.column:self.column + len(new)] = new
            self.column += len(new)
            self.lines[-1].at = at

    def select_style(self, parameters):
        codes = iter([int(part or 0) for part in parameters.split(";") if part.isdigit() or not part])
        for code in codes:
            if code == 0:
                self.style = Style()
            elif code == 1:
                self.style = Style(self.style.colour, True, self.style.dim)
            elif code == 2:
                self.style = Style(self.style.colour, self.style.bold, True)
            elif code == 22:
                self.style = Style(self.style.colour)
            elif code in (38, 48):  # 256 or true colours: not drawn, but their numbers are no codes
                for _ in range({5: 1, 2: 3}.get(next(codes, 0), 0)):
                    next(codes, 0)
            elif code == 39:
                self.style = Style(TEXT, self.style.bold, self.style.dim)
            elif 30 <= code <= 37 or 90 <= code <= 97:
                colour = PALETTE[code - 30 if code < 90 else code - 82]
                self.style = Style(colour, self.style.bold, self.style.dim)

    def finished_lines(self):
        lines = list(self.lines)
        while lines and not "".join(character for character, _ in lines[-1].cells).strip():
            lines.pop()
        return lines


def record(command, columns, rows):
    """Runs the command; returns the terminal and the exit code."""
    pid, master = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(columns), LINES=str(rows))
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error.strerror}")
            os._exit(127)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    terminal = Terminal(columns)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    start = time.monotonic()
    while True:
        select.select([master], [], [])
        try:
            data = os.read(master, 65536)
        except OSError:  # EIO: the last process has closed its side
            break
        if not data:
            break
        sys.stderr.buffer.write(data)
        sys.stderr.flush()
        terminal.feed(decoder.decode(data), time.monotonic() - start)
    os.close(master)
    return terminal, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def shorten_pauses(times, longest):
    """The same order and rhythm, with no gap over `longest`, starting at 0."""
    shortened, now, previous = [], 0.0, times[0] if times else 0.0
    for moment in times:
        now += min(max(moment - previous, 0.0), longest)
        previous = max(previous, moment)
        shortened.append(now)
    return shortened


def runs(cells):
    """(column, width, text, style) of each stretch of equal style.

    Two blanks end a stretch: not every viewer keeps them, and a position of its own does the same.
    """
    blank = [character == " " for character, _ in cells] + [True, True]
    start = 0
    while start < len(cells):
        if blank[start]:
            start += 1
            continue
        style = cells[start][1]
        end = start + 1
        while end < len(cells) and cells[end][1] == style and not (blank[end] and blank[end + 1]):
            end += 1
        text = "".join(character for character, _ in cells[start:end])
        yield start, end - start - (len(text) - len(text.rstrip(" "))), text.rstrip(" "), style
        start = end


def draw_line(line, y, delay):
    parts = []
    for column, width, text, style in runs(line.cells):
        place = f'x="{PAD + column * CELL_W:.2f}" y="{y}" textLength="{width * CELL_W:.2f}"'
        parts.append(f"<text {place} {style.css()}>{escape(text)}</text>")
    return f'<g class="l" style="animation-delay:{delay:.2f}s">{"".join(parts)}</g>' if parts else ""


def draw(lines, title, columns, longest_pause):
    width = round(columns * CELL_W + 2 * PAD)
    right = width - 9.5
    height = BAR_H + 2 * PAD + len(lines) * LINE_H - (LINE_H - FONT_PX)
    delays = shorten_pauses([line.at for line in lines], longest_pause)
    body = [draw_line(line, BAR_H + PAD + FONT_PX - 2 + i * LINE_H, delay)
            for i, (line, delay) in enumerate(zip(lines, delays))]
    lamps = "".join(f'<circle cx="{20 + 18 * i}" cy="{BAR_H / 2:g}" r="5.5" fill="{colour}"/>'
                    for i, colour in enumerate(("#e8656f", "#e5bd5c", "#7cc27a")))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label={quoteattr(title)}>',
        "<style>",
        'text { font-family: "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace; '
        f"font-size: {FONT_PX}px; }}",
        ".l { animation: show .2s ease-out backwards; }",
        "@keyframes show { from { opacity: 0; } to { opacity: 1; } }",
        "@media (prefers-reduced-motion: reduce) { .l { animation: none; } }",
        "</style>",
        f'<g stroke="{EDGE}">',
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="9" fill="{BACKGROUND}"/>',
        f'<path d="M.5 {BAR_H}V9.5a9 9 0 0 1 9-9H{right}a9 9 0 0 1 9 9V{BAR_H}z" fill="{BAR}"/>',
        "</g>",
        lamps,
        f'<text x="{width / 2:g}" y="{BAR_H / 2 + 5:g}" text-anchor="middle" fill="{DIM}">',
        f"{escape(title)}</text>",
        *(part for part in body if part),
        "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description="Draws what a command prints as a picture of a terminal.")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE.svg")
    parser.add_argument("--title", default="", help="text in the window's bar")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--max-pause", type=float, default=1.2, metavar="SECONDS",
                        help="longest pause in the picture")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND [ARG...]")
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("no command to run; put it after --")

    terminal, code = record(command, options.columns, options.rows)
    if code != 0:
        print(f"record_terminal: the command ended with {code}; no picture written", file=sys.stderr)
        return code if code > 0 else 128 - code
    options.out.parent.mkdir(parents=True, exist_ok=True)
    title = options.title or " ".join(command)
    picture = draw(terminal.finished_lines(), title, options.columns, options.max_pause)
    options.out.write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
