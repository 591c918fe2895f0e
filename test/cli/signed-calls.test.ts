// A transaction in a block is waited for until that block is final; it may leave its block meanwhile.
import t from 'tap';
import type { HttpClient } from '../../src/base/ports/http.ts';
import { confirmed } from '../../src/cli/signed-calls.ts';
import { client } from '../../src/rest-framework/client.ts';

t.test('the final height is looked at before the block', async (t) => {
  const looks: string[] = [];
  const finals = [3, 4, 5, 6];
  const heights = [5, undefined, 6, 6];
  const answer = (status: number, value: unknown) => ({
    status,
    header: () => 'application/json',
    text: JSON.stringify(value),
  });
  const http: HttpClient = {
    async request({ url }) {
      looks.push(url);
      if (url === '/finality') return answer(200, { finalHeight: finals.shift() });
      const height = heights.shift();
      return height === undefined ? answer(404, {}) : answer(200, { height });
    },
    close: async () => undefined,
  };
  const found = await confirmed(client(http, ''), { id: 'one' }, 60, true);
  t.strictSame(found, { height: 6 });
  t.strictSame(
    looks,
    Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? '/finality' : '/transactions/info/one')),
  );
});
