// A program that a fake client runs, with the client's ends of its pipes.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace corral::fakes {

struct Child {
  pid_t pid;
  int in;
  int out;
};

inline Child start(char** command) {
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::exit(70);
  const pid_t pid = fork();
  if (pid < 0) std::exit(71);
  if (pid == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execvp(command[0], command);
    std::perror(command[0]);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  return {pid, in[1], out[0]};
}

}  // namespace corral::fakes
