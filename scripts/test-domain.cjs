/**
 * Tells which test an uncaught error belongs to, in place of tap's own async-hook-domain. That has each
 * promise reported at its end, too, which takes a third of the processor time of a simulated network.
 *
 * scripts/test-file.ts preloads this module into test files; tap imports it under the other name.
 */
const { isMainThread } = require('node:worker_threads');

// Threads of a test file inherit the flag that preloads this, and have no tests.
if (isMainThread) {
  const { createHook, executionAsyncResource } = require('node:async_hooks');
  const { registerHooks } = require('node:module');
  const { pathToFileURL } = require('node:url');

  const own = { url: pathToFileURL(__filename).href, format: 'commonjs', shortCircuit: true };
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'async-hook-domain' ? own : next(specifier, context),
  });

  const DOMAIN = Symbol('domain');
  const inheritance = createHook({
    init(_id, _type, _trigger, resource) {
      const domain = executionAsyncResource()[DOMAIN];
      if (domain !== undefined) resource[DOMAIN] = domain;
    },
  });

  /** tap makes it inside the asynchronous resource of a test, so what the test starts inherits it. */
  exports.Domain = class Domain {
    /** `onerror(error, origin)` fails the test. */
    constructor(onerror) {
      const resource = executionAsyncResource();
      this.onerror = onerror;
      this.around = resource[DOMAIN];
      this.isOver = false;
      resource[DOMAIN] = this;
      inheritance.enable();
    }

    destroy() {
      this.isOver = true;
    }
  };

  process.on('uncaughtExceptionMonitor', (error, origin) => {
    // tap has set the exit code by then.
    if (process._exiting) process.exitCode = 1;
    const isTaken =
      process.hasUncaughtExceptionCaptureCallback() ||
      process.listenerCount('uncaughtException') > 0;
    // An error of a test that is over belongs to the one around it; without one, the process ends.
    let domain = executionAsyncResource()[DOMAIN];
    while (domain?.isOver) domain = domain.around;
    if (isTaken || domain === undefined) return;
    domain.onerror(error, origin);
    const goOn = () => process.setUncaughtExceptionCaptureCallback(null);
    process.setUncaughtExceptionCaptureCallback(goOn);
  });
}
