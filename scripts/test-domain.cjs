/**
 * Tells which test an uncaught error belongs to, in place of tap's own async-hook-domain. That has each
 * promise reported at its end, too, which takes a third of the processor time of a simulated network.
 *
 * scripts/test-file.ts preloads this module into test files; tap imports it under the other name.
 */
const { AsyncLocalStorage } = require('node:async_hooks');
const { registerHooks } = require('node:module');
const { pathToFileURL } = require('node:url');
const { isMainThread } = require('node:worker_threads');

const REPLACED = 'async-hook-domain';

// Threads of a test file inherit the flag that preloads this, and have no tests.
if (isMainThread) {
  const own = { url: pathToFileURL(__filename).href, format: 'commonjs', shortCircuit: true };
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === REPLACED ? own : next(specifier, context),
  });
}

/** The domain of whatever runs now. */
const current = new AsyncLocalStorage();
let open = 0;

/** tap makes it inside the asynchronous resource of a test, so what the test starts belongs to it. */
class Domain {
  /** `onerror(error, origin)` fails the test. */
  constructor(onerror) {
    this.onerror = onerror;
    this.around = current.getStore();
    this.isOver = false;
    current.enterWith(this);
    open++;
    if (open === 1) process.on('uncaughtException', fail);
  }

  destroy() {
    if (this.isOver) return;
    this.isOver = true;
    open--;
    if (open === 0) process.off('uncaughtException', fail);
  }
}

/** An error of a test that is over belongs to the one around it; without one, the process ends. */
function fail(error, origin) {
  let domain = current.getStore();
  while (domain?.isOver) domain = domain.around;
  if (domain === undefined) throw error;
  domain.onerror(error, origin);
}

module.exports = { Domain };
