// Ids in paths that do not have the length of an id: the answer is that the object does not exist.
import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import { restOf } from '../system/e2e/rest.ts';
import { wholeNode } from './in-process.ts';

t.test('ids of any length', async (t) => {
  const { node, scheme, accounts, apiKey } = await wholeNode(t, { http: httpListener });
  const rest = restOf(`http://127.0.0.1:${node.rest!.port}`, apiKey);
  const address = scheme.addressToText(accounts[0]!.address);
  const cases: [path: (id: string) => string, status: number, error?: number][] = [
    [(id) => `/blocks/signature/${id}`, 404, 301],
    [(id) => `/blocks/height/${id}`, 404, 301],
    [(id) => `/blocks/child/${id}`, 404, 301],
    [(id) => `/transactions/info/${id}`, 404],
    [(id) => `/transactions/unconfirmed/info/${id}`, 404],
    [(id) => `/transactions/address/${address}/limit/3?after=${id}`, 404],
    [(id) => `/assets/details/${id}`, 400, 199],
    [(id) => `/assets/balance/${address}/${id}`, 200],
    [(id) => `/contracts/info/${id}`, 404, 600],
    [(id) => `/contracts/${id}`, 404, 600],
    [(id) => `/contracts/${id}/key`, 404, 600],
    [(id) => `/contracts/status/${id}`, 404, 605],
    [(id) => `/contracts/executed-tx-for/${id}`, 404],
    [(id) => `/privacy/${id}`, 400, 612],
    [(id) => `/privacy/${id}/recipients`, 400, 612],
    [(id) => `/privacy/${id}/owners`, 400, 612],
    [(id) => `/privacy/${id}/hashes`, 400, 612],
  ];
  for (const size of [1, 16, 31, 33, 63, 64]) {
    const id = base58.encode(new Uint8Array(size).fill(7));
    for (const [path, status, error] of cases) {
      const { status: actual, body } = await rest.get(path(id));
      t.equal(actual, status, `${path('id')} of ${size} bytes`);
      if (error !== undefined) t.match(body, { error });
    }
    const { body } = await rest.get(`/assets/${id}/distribution`);
    t.notMatch(body, { error: 0 }, 'too long a text is refused, a short one has no holders');
  }
});
