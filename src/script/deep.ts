/**
 * Recursion of any depth: a function that calls itself is a generator and yields the call. The calls
 * that wait are then in an array instead of the stack, whose size nobody can rely on.
 */
export interface Deep<Result> extends Generator<Deep<Result>, Result, Result> {}

export function resultOf<Result>(whole: Deep<Result>): Result {
  // The innermost one is the last.
  const waiting: Deep<Result>[] = [];
  let call = whole;
  let step = call.next();
  for (;;) {
    if (step.done !== true) {
      waiting.push(call);
      call = step.value;
      step = call.next();
      continue;
    }
    const caller = waiting.pop();
    if (caller === undefined) return step.value;
    call = caller;
    step = call.next(step.value);
  }
}
