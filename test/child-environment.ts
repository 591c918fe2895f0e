/**
 * The environment of every process that a test starts. It is that of the test, which may configure
 * access to the network (proxies, certificates), without the variables that change the behaviour of
 * commands.
 */
import { collectEnvironment } from '../src/node/config/sources.ts';

/** Of the test runner, and of our own commands beside their settings. */
const LEFT_OUT = /^(NODE_OPTIONS$|NODE_V8_COVERAGE$|TAP$|TAP_|_TAPJS_|PLATFORM_NODE_|WE_NODE_)/;

export function childEnvironment(own: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !LEFT_OUT.test(name) && !isSetting(name),
  );
  return { ...Object.fromEntries(kept), NO_COLOR: '1', ...own };
}

function isSetting(name: string): boolean {
  const { raw, warnings } = collectEnvironment({ [name]: '1' });
  return raw.size + warnings.length > 0;
}
