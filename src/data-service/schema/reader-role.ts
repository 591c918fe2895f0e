/** The role of the servers, which may read everything and change nothing. */
import type { Database } from '../../base/database.ts';

export interface ReaderRole {
  readonly name: string;
  /** Absent: the role keeps its own, or logs in without one. */
  readonly password?: string | undefined;
}

/** Makes the role where it is missing. It may read all tables, also those of later migrations. */
export async function allowReading(db: Database, { name, password }: ReaderRole): Promise<void> {
  // A store inside the process has no servers beside it.
  if (db.engine === 'pglite') return;
  const role = `"${name.replaceAll('"', '""')}"`;
  const found = await db.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
  const login = password === undefined ? 'LOGIN' : `LOGIN PASSWORD ${literal(password)}`;
  if (found.length === 0) await db.exec(`CREATE ROLE ${role} ${login}`);
  else if (password !== undefined) await db.exec(`ALTER ROLE ${role} ${login}`);
  await db.exec(`
    GRANT USAGE ON SCHEMA public TO ${role};
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role};
    ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO ${role}`);
}

/** Means the same whatever `standard_conforming_strings` is. */
const literal = (text: string): string =>
  ` E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
