// Output that comes byte by byte, or as nothing but ends of lines.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { execResult } from '../../../src/adapters/containers/exec-result.ts';
import { readOutput } from '../../../src/adapters/containers/output-frames.ts';
import { frame } from './fake-engine.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

t.test('frames of one byte take no more memory than their bytes', async (t) => {
  const count = 200_000;
  const [out, error] = [frame('x'), frame('e', 2)];
  let grown = 0;
  async function* pieces() {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < count; i++) yield i % 10 === 0 ? error.slice() : out.slice();
    collectGarbage();
    grown = process.memoryUsage().heapUsed - before;
  }
  const { stdout, stderr, isCut } = await readOutput(pieces(), count - 1, 9 * count);
  t.equal(stdout.length + stderr.length, count - 1);
  t.ok(stdout.every((byte) => byte === 120) && stderr.every((byte) => byte === 101));
  t.equal(isCut, true);
  t.ok(grown < 40 * count, `the heap has grown by ${grown} bytes`);
});

t.test('the last line that is not empty', async (t) => {
  const messageOf = (text: string): unknown => {
    const outcome = execResult(3, Buffer.from(text));
    return outcome.kind === 'error' ? outcome.message : outcome;
  };
  t.equal(messageOf('first\nlast  \r\n \n\r'), 'last');
  t.equal(messageOf('only'), 'only');
  t.equal(messageOf('first\rsecond'), 'second');
  t.equal(messageOf(' \n \r\n'), '');
  t.same(execResult(0, Buffer.alloc(2 ** 20, '\n')), { kind: 'success', results: [] });
});
