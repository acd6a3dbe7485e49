#!/usr/bin/env node
// Runs the corral of the platform package that npm has installed for this machine. Where node can replace itself by a
// program (from 22.15), nothing of node stays; otherwise this process waits beside the program until it ends.
'use strict';

const { spawn } = require('node:child_process');
const { accessSync, constants, readFileSync, realpathSync } = require('node:fs');
const { signals } = require('node:os').constants;
const path = require('node:path');
const own = require('../package.json');

const FAILED = 125; // what corral itself exits with when it could not do its work
const PLATFORM = `${process.platform}-${process.arch}`;
const WANTED = `${own.name}-${PLATFORM}`;
const OFFERED = Object.keys(own.optionalDependencies ?? {});

function fail(message) {
  process.stderr.write(`corral: ${message}\n`, () => process.exit(FAILED));
}

/** The package.json of a platform package, and its directory; undefined if npm has not installed it. */
function installed(name) {
  try {
    const file = require.resolve(`${name}/package.json`);
    return { ...require(file), folder: path.dirname(file) };
  } catch {
    return undefined;
  }
}

/** The file of the program, or why there is none and what to do. */
function findProgram() {
  if (!OFFERED.includes(WANTED)) {
    const platforms = OFFERED.map((name) => name.slice(own.name.length + 1)).join(', ');
    return { problem: `there is no package for ${PLATFORM}, only for ${platforms}. Build corral from source instead.` };
  }
  const cure = `Run \`npm install ${WANTED}@${own.version}\` beside ${own.name}, or install ${own.name} again.`;
  const found = installed(WANTED);
  if (found === undefined) {
    const other = OFFERED.find((name) => installed(name));
    const why = other
      ? `${other} is there, which is for another machine: node_modules was copied, or installed for another platform.`
      : 'npm leaves it out with --omit=optional.';
    return { problem: `the package ${WANTED}, which has the program for ${PLATFORM}, is not installed. ${why} ${cure}` };
  }
  if (found.version !== own.version) {
    return { problem: `the package ${WANTED} has version ${found.version}, but ${own.name} has ${own.version}. ${cure}` };
  }
  const file = path.join(found.folder, 'bin', 'corral');
  try {
    accessSync(file, constants.X_OK);
    return { file: realpathSync(file) };
  } catch (error) {
    return { problem: `the package ${WANTED} is damaged: ${error.message}. ${cure}` };
  }
}

/** Whether a signal that a key on the terminal makes would reach the program without us: it is in our group. */
function terminalReachesBoth() {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[2] === fields[5]; // our process group, and the one in the foreground of our terminal
  } catch {
    return false;
  }
}

/**
 * Everything that a process would notice if it had started the program itself: signals, the exit code, the signal that
 * ended it, and a client that has gone. corral ends its session when its parent dies. Here that is this process, so
 * it follows its own parent.
 */
function waitBeside(file, args) {
  const parent = process.ppid;
  let program;
  const forwarding = new Map();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) {
    const fromKeys = signal !== 'SIGTERM' && !signal.startsWith('SIGUSR');
    forwarding.set(signal, () => {
      if (!fromKeys || !terminalReachesBoth()) program?.kill(signal);
    });
  }
  forwarding.forEach((forward, signal) => process.on(signal, forward));
  program = spawn(file, args, { stdio: 'inherit' });
  program.on('error', (error) => fail(`'${file}' cannot be started: ${error.message}.`));
  program.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    forwarding.forEach((forward, name) => process.removeListener(name, forward));
    process.kill(process.pid, signal);
    // Until the signal arrives. Node itself ignores some, such as SIGPIPE: then the code by which a shell would tell it.
    setTimeout(() => process.exit(128 + signals[signal]), 1000);
  });
  setInterval(() => {
    if (process.ppid !== parent) process.exit(FAILED);
  }, 500);
}

const { file, problem } = findProgram();
const args = process.argv.slice(2);
if (problem !== undefined) {
  fail(problem);
} else if (typeof process.execve === 'function') {
  process.execve(file, [file, ...args], process.env);
} else {
  waitBeside(file, args);
}
