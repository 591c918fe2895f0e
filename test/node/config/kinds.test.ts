// Values of settings: accepted and refused ones.
import t from 'tap';
import {
  amount,
  bool,
  duration,
  int,
  intOr,
  type Kind,
  size,
  Wrong,
} from '../../../src/node/config/kinds.ts';
import { choice, hostPort, path, text } from '../../../src/node/config/text-kinds.ts';

const context = { home: '/home/op', ticker: 'GOLD' };
const parse = <V>(kind: Kind<V>, raw: unknown): V | undefined => {
  const value = kind.parse(raw, context);
  return value instanceof Wrong ? undefined : value;
};

t.test('yes and no', async (t) => {
  for (const raw of [true, 'true', 'yes', 'on', 'YES']) t.equal(parse(bool, raw), true);
  for (const raw of [false, 'false', 'no', 'off']) t.equal(parse(bool, raw), false);
  for (const raw of ['', 'y', 1, 'nope']) t.equal(parse(bool, raw), undefined);
});

t.test('durations', async (t) => {
  const ms = (raw: unknown) => parse(duration(), raw)?.ms;
  t.equal(ms('200ms'), 200);
  t.equal(ms('17s'), 17_000);
  t.equal(ms('17 s'), 17_000);
  t.equal(ms('1 minute'), 60_000);
  t.equal(ms('2h'), 7_200_000);
  t.equal(ms('1d'), 86_400_000);
  t.equal(ms('1.5s'), 1500);
  t.equal(ms(250), 250);
  for (const raw of ['', 's', '-1s', '1 parsec', '1e3s', '1s 2s']) t.equal(ms(raw), undefined, raw);
  t.equal(parse(duration(), '1s')?.text, '1 second');
  t.equal(parse(duration(), '0s')?.text, '0 seconds');
  t.equal(parse(duration(100, 200, 'x'), '99ms'), undefined);
});

t.test('a list or an object is no single value', async (t) => {
  for (const kind of [bool, duration(), size, int(0, 9), choice('5', 'yes'), hostPort, text]) {
    for (const raw of [['5'], [5], ['yes'], ['a:5'], { a: 5 }, [['5s']]]) {
      t.equal(parse(kind as Kind<unknown>, raw), undefined, `${kind.name} ${JSON.stringify(raw)}`);
    }
  }
});

t.test('sizes', async (t) => {
  t.equal(parse(size, '100MiB'), 104_857_600);
  t.equal(parse(size, '20 MiB'), 20_971_520);
  t.equal(parse(size, '64K'), 65_536);
  t.equal(parse(size, '1kB'), 1000);
  t.equal(parse(size, 1048576), 1_048_576);
  for (const raw of ['', 'MiB', '1 GiX', '1.5M', -1]) t.equal(parse(size, raw), undefined);
});

t.test('amounts', async (t) => {
  t.equal(parse(amount, 5), 5n);
  t.equal(parse(amount, '5'), 5n);
  t.equal(parse(amount, '1.5 WEST'), 150_000_000n);
  t.equal(parse(amount, '0.00000001 GOLD'), 1n);
  t.equal(parse(amount, '9223372036854775807'), 2n ** 63n - 1n);
  for (const raw of ['1.5', '1 SILVER', '0.000000001 WEST', -1, 1.5, '92233720369 WEST', true]) {
    t.equal(parse(amount, raw), undefined, String(raw));
  }
});

t.test('integers', async (t) => {
  const port = int(0, 65535);
  t.equal(parse(port, 0), 0);
  t.equal(parse(port, '65535'), 65535);
  for (const raw of [-1, 65536, 1.5, '1.5', '', 'x', 2 ** 53]) t.equal(parse(port, raw), undefined);
});

t.test('addresses of hosts and paths', async (t) => {
  t.equal(parse(hostPort, 'node-1.example:6864'), 'node-1.example:6864');
  t.equal(parse(hostPort, '[::1]:6864'), '[::1]:6864');
  for (const raw of ['host', 'host:', ':1', 'host:0', 'host:65536', 'a b:1']) {
    t.equal(parse(hostPort, raw), undefined, raw);
  }
  t.equal(parse(path, '~/node'), '/home/op/node');
  t.equal(parse(path, '/var/lib/node'), '/var/lib/node');
  t.equal(parse(path, 'C:/node'), 'C:/node');
  for (const raw of ['', 'C:\\node', '/дом', '/ё']) t.equal(parse(path, raw), undefined, raw);
});

t.test('an integer or a word in its place', async (t) => {
  const kind = intOr('final', int(0, 10));
  t.equal(kind.parse(3, context), 3);
  t.equal(kind.parse('3', context), 3);
  t.equal(kind.parse('final', context), 'final');
  t.match(kind.parse('last', context), { expected: 'an integer from 0 to 10, or final' });
  t.match(kind.parse(11, context), { expected: 'an integer from 0 to 10, or final' });
});
