/** Counts work by calls of built-in methods, which is the same on every machine. */
type Methods = Record<string, (...args: unknown[]) => unknown>;

/** How often the methods are called while `act` runs. */
export function callsOf(
  owners: readonly (readonly [prototype: object, names: readonly string[]])[],
  act: () => void,
): number {
  let calls = 0;
  const restores = owners.flatMap(([prototype, names]) =>
    names.map((name) => {
      const methods = prototype as Methods;
      const method = methods[name]!;
      methods[name] = function (this: unknown, ...args: unknown[]) {
        calls++;
        return method.apply(this, args);
      };
      return () => {
        methods[name] = method;
      };
    }),
  );
  try {
    act();
  } finally {
    for (const restore of restores) restore();
  }
  return calls;
}
