/** What a failure of the store tells its operator, and which failures are waited out. */
import t from 'tap';
import { DatabaseError, databaseFailure } from '../../src/base/ports/database.ts';
import { reasonOf } from '../../src/data-service/store-reason.ts';

const failed = (code: string, message: string): DatabaseError =>
  new DatabaseError(databaseFailure(code), Object.assign(new Error(message), { code }));

t.test('remedies', async (t) => {
  const limit = reasonOf(failed('53300', 'too many connections for role "data"'));
  t.match(limit, /^too many connections for role "data" \(data-service\.database-url\); /);
  t.match(limit, /CONNECTION LIMIT of role or database/, 'not only that of the server');
  t.match(reasonOf(failed('3D000', 'no such database')), /createdb/);
  t.equal(reasonOf(failed('42804', 'of another type')), 'of another type');
  t.equal(reasonOf(new Error('no database')), 'no database');
  t.match(reasonOf(failed('57P03', 'it starts')), /^it starts \(data-service\.database-url\)$/);
});

t.test('each address of a host says why', async (t) => {
  const refused = (address: string): Error =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' });
  // As Node gives it for `localhost`.
  const both = [refused('::1:5432'), refused('127.0.0.1:5432')];
  const cause = Object.assign(new AggregateError(both), { code: 'ECONNREFUSED' });
  t.equal(
    reasonOf(new DatabaseError(databaseFailure(cause.code), cause)),
    'connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432 ' +
      '(data-service.database-url); start the server, or correct its address',
  );
});

t.test('a network that is away is waited out', async (t) => {
  for (const code of ['EHOSTUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'ENETUNREACH', 'ECONNRESET'])
    t.equal(databaseFailure(code), 'away', code);
});
