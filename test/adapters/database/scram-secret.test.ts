/** A role whose password was set by its secret logs in with the password. */
import pg from 'pg';
import t from 'tap';
import { scramSecret } from '../../../src/adapters/database/scram-secret.ts';
import { postgresCluster } from '../../data-service/stores.ts';

const cluster = await postgresCluster(t);

t.test('a secret of the same password and salt is the same', async (t) => {
  const salt = Buffer.alloc(16, 7);
  t.equal(scramSecret('pencil', salt), scramSecret('pencil', salt));
  t.not(scramSecret('pencil'), scramSecret('pencil'), 'each has a salt of its own');
});

t.test('PostgreSQL makes the same secret', { skip: cluster.skip }, async (t) => {
  const db = cluster.open(await cluster.createDatabase());
  t.teardown(() => db.close());
  const passwords = ['pencil', "a 'quoted' \\ password", 'na\u00EFve \uFB01\u00A0x\u00ADy', '日本'];
  for (const [i, password] of passwords.entries()) {
    const text = pg.escapeLiteral(password);
    await db.exec(`CREATE ROLE role${i} LOGIN PASSWORD ${text}`);
    const [role] = await db.query<{ kept: string }>(
      'SELECT rolpassword AS kept FROM pg_authid WHERE rolname = $1',
      [`role${i}`],
    );
    const salt = /^SCRAM-SHA-256\$4096:([^$]+)\$/.exec(role?.kept ?? '')?.[1] ?? '';
    t.equal(scramSecret(password, Buffer.from(salt, 'base64')), role?.kept, password);
  }
});
