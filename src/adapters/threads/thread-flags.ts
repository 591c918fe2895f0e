/**
 * Flags of Node for worker threads: the modules that this process loaded first, and no others. In a
 * checkout that is what runs the bundle (bin/load-bundle.cjs). A thread without it loads the
 * compiler, which takes 30 MB.
 */
const REQUIRE = '--require';

export const threadFlags = (own: readonly string[] = process.execArgv): string[] =>
  own.flatMap((flag, i) => {
    if (flag.startsWith(`${REQUIRE}=`)) return [flag];
    const value = flag === REQUIRE ? own[i + 1] : undefined;
    return value === undefined ? [] : [REQUIRE, value];
  });
