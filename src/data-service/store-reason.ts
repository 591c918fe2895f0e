/** What a failure of the store means for its operator, who has the setting and nothing else. */
import { DatabaseError } from '../base/ports/database.ts';

/** By SQLSTATE, or by the code of the system. */
const REMEDIES: readonly (readonly [codes: RegExp, remedy: string])[] = [
  [/^28/, 'correct user and password, or let the server take this role'],
  [/^3D000$/, 'make the database with createdb, or correct its name'],
  [
    /^42501$/,
    'a crawler needs the owner of the database (ALTER DATABASE … OWNER TO …), ' +
      'a server a role that may read (data-service.reader-role)',
  ],
  [
    /^42(P07|703|710)$/,
    'another program has a table of that name: name an empty database, or a schema of its own',
  ],
  [/^3F000$/, 'make the schema of its search_path (CREATE SCHEMA …), or correct its name'],
  [/^25006$/, 'the database takes no writes: name the primary, or let the role write'],
  [
    /^53300$/,
    'raise max_connections of the server, or the CONNECTION LIMIT of role or database, ' +
      'or lower data-service.pool-size',
  ],
  [/^(ECONNREFUSED|ENOENT|ENOTFOUND|EAI_AGAIN)$/, 'start the server, or correct its address'],
];

/** The message of a database alone names neither the setting nor the remedy. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof DatabaseError)) {
    return cause instanceof Error ? cause.message : String(cause);
  }
  const { code } = (cause.cause ?? {}) as { readonly code?: unknown };
  const remedy = REMEDIES.find(([codes]) => codes.test(String(code)))?.[1];
  if (remedy === undefined) {
    return cause.failure === 'away'
      ? `${cause.message} (data-service.database-url)`
      : cause.message;
  }
  return `${cause.message} (data-service.database-url); ${remedy}`;
}
