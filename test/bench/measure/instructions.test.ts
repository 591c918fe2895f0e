// What `perf stat` prints for the threads of a process (bench/measure/instructions.ts).
import t from 'tap';
import { instructionsIn } from '../../../bench/measure/instructions.ts';

t.test('the main thread, and all', async (t) => {
  const printed = [
    'node-4711,123456,,instructions,1000,100.00,1.2,insn per cycle',
    'V8-Worker-4712,1000,,instructions:u,1000,100.00,,',
    'libuv, worker-4713,44,,instructions,1000,100.00,,',
    'node-4714,<not counted>,,instructions,0,100.00,,',
  ].join('\n');
  t.strictSame(instructionsIn(printed, 4711), { main: 123456, all: 124500 });
});

t.test('a machine without counters', async (t) => {
  t.equal(instructionsIn('node-4711,<not supported>,,instructions,0,100.00,,\n', 4711), undefined);
  t.equal(instructionsIn('', 4711), undefined);
});
