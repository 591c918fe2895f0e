/** What a container gets, whatever its image says. */
import t from 'tap';
import { containerDefinition } from '../../../src/adapters/containers/container-definition.ts';

function definitionOf(user: string, isPodman: boolean): Readonly<Record<string, unknown>> {
  const image = { id: 'a', names: [], user, labels: {}, volumes: ['/data'], bytes: 1 };
  return containerDefinition({
    image,
    limits: { memoryMb: 64, memorySwapMb: 0, cpus: 1, pids: 32, cgroupParent: undefined },
    capacity: { containers: 1, starts: 1, cpuShares: 1024, cpus: 1 },
    labels: {},
    setup: { env: {}, mounts: [] },
    network: undefined,
    engine: { hasInit: true, isPodman },
  });
}

const userFor = (user: string): unknown => definitionOf(user, false)['User'];

t.test('users', async (t) => {
  t.equal(userFor('1234:99'), '1234:99');
  t.equal(userFor('1234'), '1234:10001', 'without a group it would be in that of root');
  t.equal(userFor('1234:0'), '1234:10001');
  t.equal(userFor('1234:disk'), '1234:10001');
  const names = [
    '',
    'root',
    'toor',
    'node',
    'daemon',
    'root:root',
    ':',
    ':5',
    '\u0661',
    '1 ',
    ' 1',
  ];
  const numbers = ['0', '00', '000:1', '-1', '+1', '0x0', '1e0', '1.0', '4294967295', '4294967296'];
  for (const user of [...names, ...numbers, '2147483648', '01', '18446744073709551616:1']) {
    t.equal(userFor(user), '10001:10001', JSON.stringify(user));
  }
});

t.test('folders in memory: no file of them runs', async (t) => {
  const common = 'rw,noexec,nosuid,size=16777216';
  t.match(definitionOf('5:6', false), {
    HostConfig: {
      Tmpfs: { '/tmp': `${common},uid=5,gid=6` },
      Mounts: [{ Type: 'tmpfs', Target: '/data', TmpfsOptions: { SizeBytes: 16777216 } }],
    },
  });
  // Podman 4 refuses uid and gid, and makes mounts without noexec.
  const scratch = `${common},mode=1777,notmpcopyup`;
  t.match(definitionOf('5:6', true), {
    HostConfig: { Tmpfs: { '/tmp': scratch, '/data': scratch }, Mounts: [] },
  });
});
