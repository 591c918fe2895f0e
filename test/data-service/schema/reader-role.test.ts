/** What is refused about the role of the servers names its setting, and what to do. */
import t from 'tap';
import { scramSecret } from '../../../src/adapters/database/scram-secret.ts';
import { DatabaseError, databaseFailure } from '../../../src/base/ports/database.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { allowReading } from '../../../src/data-service/schema/reader-role.ts';
import { postgresCluster } from '../stores.ts';

const { skip, createDatabase, open } = await postgresCluster(t);

t.test('a password that the server does not take', { skip }, async (t) => {
  const owner = open(await createDatabase());
  t.teardown(() => owner.close());
  await migrate(owner, { indexText: true });
  const secret = scramSecret('a password');

  // An extension of the server may have rules for passwords.
  const code = '22023';
  const ruled = Object.assign(new Error('password is too short'), { code });
  const exec = async (): Promise<never> => {
    throw new DatabaseError(databaseFailure(code), ruled);
  };
  await t.rejects(allowReading({ ...owner, exec }, { name: 'ruled', secret }), {
    failure: 'other',
    message: /^password is too short \(data-service\.reader-role\); make the role yourself/,
  });
});

t.test('the role that writes keeps its password', { skip }, async (t) => {
  const url = await createDatabase();
  const admin = open(url);
  t.teardown(() => admin.close());
  const own = scramSecret('its own');
  await admin.exec(`CREATE ROLE writer LOGIN SUPERUSER PASSWORD '${own}'`);
  const writer = open(url.replace(/\/\/\w+@/, '//writer@'));
  t.teardown(() => writer.close());
  await migrate(writer, { indexText: true });
  await t.rejects(allowReading(writer, { name: 'writer', secret: scramSecret('another') }), {
    failure: 'other',
    message: /\(data-service\.reader-role\); name another role$/,
  });
  await t.resolves(allowReading(writer, { name: 'writer' }), 'it may read already');
  t.strictSame(
    await admin.query(`SELECT rolpassword AS is FROM pg_authid WHERE rolname = 'writer'`),
    [{ is: own }],
  );
});
