// Lists in answers: each has its own limit, or the answer is made in turns within a budget.
import t from 'tap';
import { limits } from '../../src/rest/limits.ts';
import { routes } from '../../src/rest/routes/index.ts';
import { budgetOf } from '../../src/rest-framework/route-budget.ts';

/** What bounds the lists of answers that are made in one piece. */
const BOUNDED: Readonly<Record<string, number | string>> = {
  'GET /activation/status': 'features of the protocol',
  'GET /addresses/seq/{from}/{to}': limits.addresses,
  'GET /alias/by-address/{address}': 'one alias for each address',
  'GET /blocks/headers/at/{height}': 'features that one block votes for',
  'GET /blocks/headers/last': 'features that one block votes for',
  'GET /blocks/headers/seq/{from}/{to}': limits.blockRange,
  'GET /contracts/failures/{contractId}': limits.contractHistory,
  'GET /contracts/status/{id}': 'two outcomes of each kind and miner',
  'POST /contracts/{contractId}': limits.contractKeys,
  'POST /crypto/encryptSeparate': limits.encryption.recipients,
  'GET /finality': 'voters of two sets, and evidence',
  'GET /health/live': 'parts of the node',
  'GET /health/ready': 'parts of the node',
  'GET /peers/connected': limits.peers,
  'GET /peers/all': limits.peers,
  'GET /peers/suspended': limits.peers,
  'GET /peers/blacklisted': limits.peers,
  'GET /permissions/{address}': 'kinds of roles',
  'GET /permissions/{address}/at/{timestamp}': 'kinds of roles',
};

const holdsList = (schema: unknown): boolean =>
  typeof schema === 'object' &&
  schema !== null &&
  ((schema as { type?: unknown }).type === 'array' || Object.values(schema).some(holdsList));

t.test('every list has a bound, or gives way to others', async (t) => {
  const inOnePiece = routes
    .filter((route) => holdsList(route.reply) && !budgetOf(route).streamed)
    .map(({ method, path }) => `${method} ${path}`);
  t.strictSame(inOnePiece.sort(), Object.keys(BOUNDED).sort());
});
