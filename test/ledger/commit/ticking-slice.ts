/** Slices of long work whose clock goes on by a millisecond whenever it is looked at. */
import { TimeSlice } from '../../../src/concurrency/time-slice.ts';

export function tickingSlice() {
  let now = 0;
  let turns = 0;
  let listener = (): void => undefined;
  const clock = {
    monotonic: () => now++,
    async turn() {
      turns++;
      listener();
    },
  };
  return {
    slice: new TimeSlice(clock),
    turns: () => turns,
    onTurn(heard: () => void): void {
      listener = heard;
    },
  };
}
