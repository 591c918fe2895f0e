/**
 * What PostgreSQL keeps of a password (RFC 5803). A statement that sets it so never has the password
 * itself, which the server writes to its log with a statement that fails.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** As many as PostgreSQL takes by itself. */
const ITERATIONS = 4096;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

export function scramSecret(password: string, salt: Buffer = randomBytes(SALT_BYTES)): string {
  const salted = pbkdf2Sync(prepared(password), salt, ITERATIONS, KEY_BYTES, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const server = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`;
}

/** SASLprep (RFC 4013), as clients do it before they log in. */
const prepared = (password: string): string =>
  password
    .replace(/[\u00A0\u1680\u2000-\u200B\u202F\u205F\u3000]/g, ' ')
    .replace(
      /\u00AD|\u034F|\u1806|\u180B|\u180C|\u180D|\u200C|\u200D|\u2060|[\uFE00-\uFE0F]|\uFEFF/g,
      '',
    )
    .normalize('NFKC');
