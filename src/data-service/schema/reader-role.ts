/** The role of the servers, which may read everything and change nothing. */
import { type Database, DatabaseError } from '../../base/ports/database.ts';

export interface ReaderRole {
  readonly name: string;
  /**
   * What PostgreSQL keeps of the password, since its log may have the statement. Absent: the role
   * keeps its own, or logs in without one.
   */
  readonly secret?: string | undefined;
}

/** Makes the role where it is missing. It may read all tables, also those of later migrations. */
export async function allowReading(db: Database, { name, secret }: ReaderRole): Promise<void> {
  // A store inside the process has no servers beside it.
  if (db.engine === 'pglite') return;
  const role = quoted(name);
  const [found] = await db.query<Found>(FIND, [name]);
  // The address of the crawler would have another password from then on.
  if (found?.is_own === true && secret !== undefined) throw new DatabaseError('other', IS_OWN);
  const login = secret === undefined ? 'LOGIN' : `LOGIN PASSWORD ${literal(secret)}`;
  const schema = quoted(found?.schema ?? 'public');
  const trigrams = quoted(found?.trigrams ?? found?.schema ?? 'public');
  try {
    if (found?.can_login === null) await madeRole(db, role, login);
    else if (secret !== undefined) await db.exec(`ALTER ROLE ${role} ${login}`);
    if (found?.can_read === true) return;
    await db.exec(`
      GRANT USAGE ON SCHEMA ${schema}, ${trigrams} TO ${role};
      GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${role};
      ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT ON TABLES TO ${role}`);
  } catch (cause) {
    const code = codeOf(cause);
    // Another process changes the role, too.
    if (code === INTERNAL_ERROR) throw new DatabaseError('away', cause);
    const remedy = REMEDIES[code];
    throw remedy === undefined ? cause : new DatabaseError('other', refused(cause, remedy));
  }
}

/** Another process may make it meanwhile, as the crawler of another schema. */
async function madeRole(db: Database, role: string, login: string): Promise<void> {
  try {
    await db.exec(`CREATE ROLE ${role} ${login}`);
  } catch (cause) {
    if (!MADE_MEANWHILE.includes(codeOf(cause))) throw cause;
    await db.exec(`ALTER ROLE ${role} ${login}`);
  }
}

const codeOf = (cause: unknown): string =>
  String((cause as { readonly cause?: { readonly code?: unknown } }).cause?.code);

/** A role of that name, found before and after its row was written. */
const MADE_MEANWHILE = ['42710', '23505'];
const INTERNAL_ERROR = 'XX000';
const IS_OWN =
  'reader-role is the role that writes, and reader-password would replace its password ' +
  '(data-service.reader-role); name another role';
const MAKE_IT = 'make the role yourself and leave reader-password out';

const REMEDIES: Readonly<Record<string, string>> = {
  42501: `let the owner of the tables make roles (ALTER ROLE … CREATEROLE), or ${MAKE_IT}`,
  // It has rules for passwords, and may want to see them.
  22023: MAKE_IT,
};

const refused = (cause: unknown, remedy: string): Error =>
  new Error(`${(cause as Error).message} (data-service.reader-role); ${remedy}`, { cause });

interface Found {
  readonly schema: string;
  /** The schema of the extension for parts of texts, which may be another one. */
  readonly trigrams: string | null;
  /** Null where there is no such role. */
  readonly can_login: boolean | null;
  readonly can_read: boolean | null;
  /** The role of this connection. */
  readonly is_own: boolean;
}

const FIND = `
  SELECT own.nspname AS schema, trigrams.nspname AS trigrams, r.rolcanlogin AS can_login,
    has_schema_privilege(r.oid, own.oid, 'USAGE')
    AND has_schema_privilege(r.oid, trigrams.oid, 'USAGE') AND NOT EXISTS (
      SELECT FROM pg_class c WHERE c.relnamespace = own.oid
        AND c.relkind = 'r' AND NOT has_table_privilege(r.oid, c.oid, 'SELECT')) AS can_read,
    $1 IN (current_user, session_user) AS is_own
  FROM pg_namespace own LEFT JOIN pg_roles r ON r.rolname = $1
  LEFT JOIN (pg_extension e JOIN pg_namespace trigrams ON trigrams.oid = e.extnamespace)
    ON e.extname = 'pg_trgm'
  WHERE own.nspname = current_schema()`;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Means the same whatever `standard_conforming_strings` is. */
const literal = (text: string): string =>
  ` E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
