/**
 * `WORKER_FLAGS`: options of V8 for the processes that run tests. A worker calls most functions of
 * the engine some hundred times and goes on to other files: a third of its processor time went to
 * compiling them, each with all that it calls, as if they were to run for days. Programs that tests
 * start have the settings of Node.
 */
export const WORKER_FLAGS = [
  // Less of what a function calls is compiled into it: a third of V8's usual amount.
  '--max-inlined-bytecode-size-cumulative=300',
  // Short-lived objects have more room (MiB) until they are collected.
  '--max-semi-space-size=64',
];
