// What one reader of the delay of timers leaves to the others.
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import t from 'tap';
import { COVERED_MS, LoopDelayReader, measureLoopDelay } from '../../src/adapters/loop-delay.ts';

const SECOND = 1000;
const NANOSECONDS = 1e9;
/** Of the pause between two measurements. */
const PAUSE = 0.01;

/** A second of a thread as both histograms see it, whose timers all are late by so much. */
function measured() {
  const histograms: [RecordableHistogram, RecordableHistogram] = [
    createHistogram(),
    createHistogram(),
  ];
  let now = 0;
  const reader = new LoopDelayReader(histograms, () => now);
  return {
    max: () => Number(reader.read().max.toFixed(2)),
    pass(seconds: number, late = 0) {
      for (let i = 0; i < seconds; i++) {
        now += SECOND;
        for (const one of histograms) one.record(Math.round((late + PAUSE) * NANOSECONDS));
      }
    },
  };
}

t.test('one who reads often takes nothing away from one who reads each minute', async (t) => {
  const { max, pass } = measured();
  for (let minute = 0; minute < 5; minute++) {
    pass(1, 3);
    t.equal(max(), 3, 'who reads at once');
    for (let i = 0; i < 29; i++) {
      pass(2);
      max();
    }
    pass(1);
    t.equal(max(), 3, 'who reads at the end of the minute');
  }
  for (let i = 0; i < COVERED_MS / SECOND; i++) {
    pass(2);
    max();
  }
  t.equal(max(), 0, 'two minutes later it is over');
});

t.test('alone, each minute or less often, it is what was since the last reading', async (t) => {
  const { max, pass } = measured();
  pass(60, 2);
  t.equal(max(), 2);
  pass(60);
  t.equal(max(), 0);
  pass(1, 4);
  pass(600);
  t.equal(max(), 4);
  pass(600);
  t.equal(max(), 0);
});

t.test('the real histograms of this thread', async (t) => {
  const { histograms, end } = measureLoopDelay();
  t.teardown(end);
  const reader = new LoopDelayReader(histograms);
  while (histograms.some(({ max }) => max === 0)) await new Promise((next) => setTimeout(next, 10));
  // A timer that is late: the thread does nothing else until it is.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  while (reader.read().max < 0.4) await new Promise((next) => setTimeout(next, 10));
  t.ok(reader.read().max >= 0.4, 'and it is still there');
});
