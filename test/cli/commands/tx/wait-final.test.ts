// A transaction in a block is waited for until that block is final; it may leave its block meanwhile.
import t from 'tap';
import { finallyConfirmed } from '../../../../src/cli/commands/tx/tx-send.ts';
import { RefusedError } from '../../../../src/rest-framework/client.ts';

t.test('the final height is looked at before the block', async (t) => {
  const looks: string[] = [];
  const finals = [3, 4, 5, 6];
  const heights = [5, undefined, 6, 6];
  const found = await finallyConfirmed(
    {},
    'id',
    60,
    async () => {
      looks.push('final');
      return finals.shift();
    },
    async () => {
      looks.push('block');
      const height = heights.shift();
      if (height === undefined) throw new RefusedError(404, {});
      return { height };
    },
  );
  t.strictSame(found, { height: 6 });
  t.strictSame(
    looks,
    Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? 'final' : 'block')),
  );
});
