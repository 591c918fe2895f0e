/** Roles that are held now, on both stores: which they are, and what a list of them reads. */
import t from 'tap';
import { onBothStores } from '../../stores.ts';
import { recorded } from '../counting.ts';

/** Operations on one role of one address. */
const MANY = 3000;
const PAST = 1_600_000_000_000;
const LATER = 9_000_000_000_000;

let seq = 1_000_000;
const op = (address: string, role: string, kind: string, ts: number, due = 'NULL') =>
  `(${seq++}, '${address}', '${role}', '${kind}', ${due}, ${ts})`;

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Rows that all nodes of a plan have read. */
function rowsRead(node: PlanNode): number {
  const removed =
    (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const own = (node['Actual Rows'] + removed) * node['Actual Loops'];
  return (node.Plans ?? []).reduce((sum, below) => sum + rowsRead(below), own);
}

await onBothStores(t, 'users by their roles', async (t, open) => {
  const db = await open();
  await db.exec(`
    INSERT INTO blocks VALUES (1, 'b', 'a', 1, ${PAST}, '3MMany', 1, '', '{}', '{}', 1, 0, 0, 1);
    INSERT INTO users SELECT name, n, 1, ${PAST}
      FROM unnest(ARRAY['3MMany', '3MDue', '3MTied', '3MTaken']) WITH ORDINALITY names(name, n);
    INSERT INTO permission_ops SELECT g, '3MMany', 'dex', 'add', ${LATER}, ${PAST} - g
      FROM generate_series(1, ${MANY}) g;
    INSERT INTO permission_ops VALUES ${[
      op('3MDue', 'dex', 'add', PAST),
      op('3MDue', 'dex', 'add', PAST + 1, String(PAST + 2)),
      op('3MTied', 'dex', 'add', PAST + 3),
      op('3MTied', 'dex', 'remove', PAST + 3),
      op('3MTaken', 'dex', 'remove', PAST + 5),
      op('3MTaken', 'dex', 'add', PAST + 4),
      op('3MTaken', 'miner', 'add', PAST + 6),
      op('3MTaken', 'miner', 'remove', LATER),
    ]};
    ANALYZE permission_ops`);
  const { service, said, plans } = await recorded(t, db, (sql) => sql.includes('permission_ops'));
  const holders = async (roles: string) => {
    const list = await service.get(`/users?sort=asc&permissions=${roles}`);
    const found = list.json as { address: string; permissions: string[] }[];
    const { json } = await service.get(`/users/count?permissions=${roles}`);
    t.match(json, { count: String(found.length) }, roles);
    const wanted = roles.split(',');
    const shows = found.every(({ permissions }) => permissions.some((r) => wanted.includes(r)));
    t.ok(shows, `each shows one of ${roles}`);
    return found.map(({ address }) => address);
  };
  t.strictSame(await holders('dex'), ['3MMany', '3MTied']);
  t.strictSame(await holders('miner'), ['3MTaken']);
  t.strictSame(await holders('miner,dex'), ['3MMany', '3MTied', '3MTaken']);
  t.strictSame(await holders('banned'), []);

  t.ok(said.length > 0);
  for (const plan of await plans()) {
    const read = rowsRead(plan);
    t.ok(read < 12 * MANY, `${read} rows of ${MANY} operations`);
  }
});
