"""Says to finished programs which mutant is on: a number behind a mark in their data."""

from pathlib import Path

MARK = b"corral-mutant-is"  # 16 bytes, so that the number behind it is aligned
NONE = 0
RECORD = 0xFFFFFFFF  # no mutant is on, and every program tells which ones it comes across
REACHED = "/run/corral-reached/list"

HEADER_TEXT = """#pragma once
// Which change to the sources is on; 0 = none. The number is written into the finished program.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
struct CorralMutant {
  char mark[16];
  volatile unsigned number;
};
inline volatile CorralMutant corral_mutant_switch = {
    {'c', 'o', 'r', 'r', 'a', 'l', '-', 'm', 'u', 't', 'a', 'n', 't', '-', 'i', 's'}, 0};
inline volatile bool corral_mutant_seen[4096];
inline void corral_mutant_record(unsigned number) {
  if (number >= 4096 || corral_mutant_seen[number]) return;
  corral_mutant_seen[number] = true;
  const int before = errno;
  const int list = open("@REACHED@", O_WRONLY | O_APPEND | O_CLOEXEC);
  if (list >= 0) {
    char digits[5] = {'0', '0', '0', '0', '\\n'};
    for (int i = 3; i >= 0; --i, number /= 10) digits[i] = static_cast<char>('0' + number % 10);
    const auto written = write(list, digits, sizeof digits);
    static_cast<void>(written);
    close(list);
  }
  errno = before;
}
inline bool corral_mutant(unsigned number) {
  const unsigned on = corral_mutant_switch.number;
  if (on == 0xFFFFFFFFU) corral_mutant_record(number);
  return on == number;
}
""".replace("@REACHED@", REACHED)


def places(program):
    """Where the number is in a program; nothing if no mutant is in it."""
    data = program.read_bytes()
    if not data.startswith(b"\x7fELF"):
        return []
    found = []
    at = data.find(MARK)
    while at >= 0:
        found.append(at + len(MARK))
        at = data.find(MARK, at + 1)
    return found


def programs(folder):
    """{program: places} of all programs below a directory that hold a mutant."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o111 and path.suffix == "":
            at = places(path)
            if at:
                found[path] = at
    return found


def switch(found, number):
    for program, at in found.items():
        with open(program, "r+b") as file:
            for place in at:
                file.seek(place)
                file.write(number.to_bytes(4, "little"))
