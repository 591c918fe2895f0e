/** The extension for parts of texts: a database has it once, in one of its schemas. */
import { type Database, DatabaseError, type Queries } from '../../base/ports/database.ts';

const OPERATORS = 'gin_trgm_ops';
const FIND = `
  SELECT quote_ident(n.nspname) AS name
  FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'`;

/** The codes of a server that lacks the files of the extension, or does not allow it. */
const UNAVAILABLE = ['0A000', '58P01'];

/** Makes the extension in the schema of the tables, unless it is there. */
export async function makeTrigrams(db: Pick<Database, 'exec' | 'query'>): Promise<void> {
  try {
    await db.exec('CREATE EXTENSION IF NOT EXISTS pg_trgm');
  } catch (cause) {
    // The crawler of another schema may have made it meanwhile.
    if ((await trigramSchema(db)) !== undefined) return;
    const { message, cause: from } = cause as Error;
    const { code } = (from ?? {}) as { readonly code?: unknown };
    if (!UNAVAILABLE.includes(String(code))) throw cause;
    const remedy = 'install the extensions that come with PostgreSQL (postgresql-contrib)';
    throw new DatabaseError('other', `${message} (data-service.database-url); ${remedy}`);
  }
}

/** As SQL writes it; undefined where the extension is missing. */
export async function trigramSchema(db: Pick<Queries, 'query'>): Promise<string | undefined> {
  const [found] = await db.query<{ name: string }>(FIND);
  return found?.name;
}

/** The search path need not name the schema then, whose name may have any character, also `$&`. */
export const withTrigramsOf = (schema: string | undefined, definition: string): string =>
  schema === undefined
    ? definition
    : definition.replaceAll(OPERATORS, () => `${schema}.${OPERATORS}`);
