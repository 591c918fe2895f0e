/** Answers of Podman 4.3.1, where it differs from Docker. */
import t from 'tap';
import { kindOf, networkIn } from '../../../src/adapters/containers/engine-answers.ts';

const PODMAN = {
  Platform: { Name: 'linux/amd64/debian-12' },
  Components: [
    { Name: 'Podman Engine', Version: '4.3.1', Details: { APIVersion: '4.3.1' } },
    { Name: 'Conmon', Version: 'conmon version 2.1.6, commit: unknown' },
    { Name: 'OCI Runtime (runc)', Version: 'runc version 1.1.5+ds1' },
  ],
  Version: '4.3.1',
  ApiVersion: '1.41',
  MinAPIVersion: '1.24',
};

t.test('the kind of an engine', async (t) => {
  t.strictSame(kindOf(PODMAN), { hasInit: false, isPodman: true });
  const docker = (version: string) => ({
    Components: [{ Name: 'Engine' }, { Name: 'docker-init', Version: version }],
  });
  t.strictSame(kindOf(docker('0.19.0')), { hasInit: true, isPodman: false });
  t.strictSame(kindOf(docker('N/A')), { hasInit: false, isPodman: false });
  for (const answer of [undefined, {}, { Components: 'none' }, { Components: [null, 7] }]) {
    t.strictSame(kindOf(answer), { hasInit: false, isPodman: false });
  }
});

t.test('an inner network on which the machine has no address', async (t) => {
  const withGateway = (gateway: string) => ({
    IPAM: { Config: [{ Subnet: '10.88.3.0/24', Gateway: gateway }] },
  });
  const { gateway, includes } = networkIn(withGateway('10.88.3.1'));
  t.equal(gateway, '10.88.3.1');
  t.ok(includes('10.88.3.9'));
  t.throws(() => networkIn(withGateway('<nil>')), /the machine has no address/);
});
