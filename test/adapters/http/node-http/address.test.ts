// The bytes of an address, as the native server gives them.
import t from 'tap';
import { addressBytes } from '../../../../src/adapters/http/node-http/address.ts';

const groups = (text: string): string[] => {
  const view = new DataView(addressBytes(text));
  return Array.from({ length: view.byteLength / 2 }, (_, i) => view.getUint16(2 * i).toString(16));
};

t.test('addresses', async (t) => {
  t.strictSame([...new Uint8Array(addressBytes('192.0.2.255'))], [192, 0, 2, 255]);
  t.strictSame([...new Uint8Array(addressBytes('::ffff:192.0.2.1'))], [192, 0, 2, 1]);
  t.strictSame(groups('::1'), ['0', '0', '0', '0', '0', '0', '0', '1']);
  t.strictSame(groups('::'), ['0', '0', '0', '0', '0', '0', '0', '0']);
  t.strictSame(groups('2001:db8::5:0:ff'), ['2001', 'db8', '0', '0', '0', '5', '0', 'ff']);
  t.strictSame(groups('fe80::1%eth0'), ['fe80', '0', '0', '0', '0', '0', '0', '1']);
  t.throws(() => addressBytes(''));
});
