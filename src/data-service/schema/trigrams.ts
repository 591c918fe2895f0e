/** The extension for parts of texts: a database has it once, in one of its schemas. */
import type { Queries } from '../../base/ports/database.ts';

const OPERATORS = 'gin_trgm_ops';
const FIND = `
  SELECT quote_ident(n.nspname) AS name
  FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'`;

/** As SQL writes it; undefined where the extension is missing. */
export async function trigramSchema(db: Pick<Queries, 'query'>): Promise<string | undefined> {
  const [found] = await db.query<{ name: string }>(FIND);
  return found?.name;
}

/** The search path need not name the schema then. */
export const withTrigramsOf = (schema: string | undefined, definition: string): string =>
  schema === undefined ? definition : definition.replaceAll(OPERATORS, `${schema}.${OPERATORS}`);
