/** Which calls come from a program of this machine; as requests, see auth.test.ts. */
import t from 'tap';
import { type Caller, isLocalProgram } from '../../src/rest-framework/local-caller.ts';

const from = (address: string): Caller => ({
  remoteAddress: () => address,
  hasHeader: () => false,
  headers: (name) => (name === 'host' ? 'localhost' : ''),
});

t.test('only this machine calls from its own addresses', async (t) => {
  for (const address of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
    t.ok(isLocalProgram(from(address), []), address);
  }
  const others = ['10.0.0.1', '128.0.0.1', '::ffff:10.0.0.1', '::', '', '127.0.0.1.example'];
  for (const address of [...others, 'fe80::1', '1127.0.0.1']) {
    t.notOk(isLocalProgram(from(address), ['10.0.0.1']), address);
  }
});
