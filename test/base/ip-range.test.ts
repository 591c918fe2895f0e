// Addresses and ranges against Node's own judgement.
import { BlockList, isIP } from 'node:net';
import t from 'tap';
import { clientOf, ipBytes, ipRange, isInRanges } from '../../src/base/ip-range.ts';

const ADDRESSES = [
  ...['10.0.0.7', '10.0.1.7', '10.255.255.255', '11.0.0.0', '127.0.0.1', '255.255.255.255'],
  ...['::1', '::', '1::', 'fd00::1', 'fd00:1:2:3:4:5:6:7', 'fe80:0:0:0:0:0:0:1', '2001:db8::8:1'],
];
const WRONG = [
  ...['', 'x', '10.0.0', '10.0.0.256', '10.0.0.0.1', '1:2', ':::', '1::2::3', 'g::1', '::12345'],
  ...['1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7::8', 'localhost', '10.0.0.1 '],
];

t.test('addresses', async (t) => {
  for (const text of ADDRESSES) t.equal(ipBytes(text)?.length, isIP(text) === 4 ? 4 : 16, text);
  for (const text of WRONG) t.equal(ipBytes(text), undefined, text);
  t.strictSame(ipBytes('::ffff:10.0.0.7'), Uint8Array.of(10, 0, 0, 7));
});

t.test('a line of the Internet is one client', async (t) => {
  const line = clientOf('2001:db8:0:7::1');
  t.equal(line, '2001:db8:0:7::/64');
  t.equal(clientOf('2001:DB8:0:7:ffff:ffff:ffff:ffff'), line);
  t.not(clientOf('2001:db8:0:8::1'), line);
  t.equal(clientOf('3fff::1'), '3fff:0:0:0::/64');
  // Networks of an organisation, a link and a machine have few hosts, each with its own address.
  const whole = ['fd00::1', 'fe80::1%eth0', '::1', '::ffff:10.0.0.7', '2::1', '4000::1'];
  for (const text of [...whole, '10.0.0.7', 'node.example', '2001:::1', '']) {
    t.equal(clientOf(text), text);
  }
});

t.test('ranges', async (t) => {
  for (const text of [
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/x',
    '/8',
    'a/8',
    '1.1.1.1/8/8',
  ]) {
    t.equal(ipRange(text), undefined, text);
  }
  for (const network of ADDRESSES) {
    const type = isIP(network) === 4 ? 'ipv4' : 'ipv6';
    for (const bits of type === 'ipv4' ? [0, 1, 8, 15, 24, 31, 32] : [0, 1, 8, 33, 64, 127, 128]) {
      const list = new BlockList();
      list.addSubnet(network, bits, type);
      const range = ipRange(`${network}/${bits}`)!;
      for (const address of ADDRESSES) {
        if (isIP(address) !== isIP(network)) continue;
        const expected = list.check(address, type);
        t.equal(isInRanges(address, [range]), expected, `${address} in ${network}/${bits}`);
      }
    }
  }
  t.notOk(isInRanges('nonsense', [ipRange('0.0.0.0/0')!]));
});
