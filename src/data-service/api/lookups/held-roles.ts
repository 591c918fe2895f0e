/**
 * The roles that addresses have at a time: of the operations on a role of an address until then the one with the
 * latest time is `add`, and not yet due. The order in the chain may be another one.
 *
 * The index `permission_ops_time` has them in the order of their times, so each operation is read once.
 */
import { ROLES } from '../../../tx/fields/permission.ts';
import type { SqlValues } from '../sql-values.ts';

const holdsAt = (at: string): string => `op = 'add' AND (due_ts IS NULL OR due_ts > ${at})`;

/** The latest first; of several at one time one that gives the role. */
const latestFirst = (at: string): string => `ts DESC, (${holdsAt(at)}) DESC`;

/** A sub-select of the addresses that have one of the roles at `now`. */
export function holdersOf(roles: readonly string[], now: number, values: SqlValues): string {
  const wanted = values.add([...roles], 'text[]');
  const at = values.add(now, 'bigint');
  return `(SELECT address FROM (
    SELECT DISTINCT ON (role, address) address, ${holdsAt(at)} AS is_held FROM permission_ops
    WHERE role = ANY(${wanted}) AND ts <= ${at}
    ORDER BY role, address, ${latestFirst(at)}) latest WHERE is_held)`;
}

/** The pairs of address and role of some addresses, for every role, in the order of the roles. */
export function rolesOf(addresses: readonly string[], now: number, values: SqlValues): string {
  const at = values.add(now, 'bigint');
  return `SELECT u.address, r.role
    FROM unnest(${values.add([...addresses], 'text[]')}) u(address)
    CROSS JOIN unnest(${values.add([...ROLES], 'text[]')}) r(role)
    CROSS JOIN LATERAL (SELECT op, due_ts FROM permission_ops p
      WHERE p.address = u.address AND p.role = r.role AND p.ts <= ${at}
      ORDER BY ${latestFirst(at)} LIMIT 1) latest
    WHERE ${holdsAt(at)} ORDER BY r.role`;
}
