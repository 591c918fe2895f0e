// Peers in text forms.
import t from 'tap';
import { hostText, knownJson } from '../../src/rest/peer-json.ts';

t.test('peers are listed as name, stroke, digits', async (t) => {
  const [here, away] = [new Uint8Array(26).fill(1), new Uint8Array(26).fill(2)];
  const known = (host: string, owner?: Uint8Array) => ({
    address: { host, port: 6864 },
    owner,
    miner: undefined,
    claimed: undefined,
    lastSeen: 5,
    configured: true,
  });
  const peers = {
    sessions: {
      of: (owner: Uint8Array) => (owner === here ? { remoteHost: '10.0.0.1' } : undefined),
    },
  } as unknown as Parameters<typeof knownJson>[1];
  t.strictSame(
    [known('10.0.0.9'), known('a.example', here), known('b.example', away)].map((place) =>
      knownJson(place, peers),
    ),
    [
      { address: '/10.0.0.9:6864', lastSeen: 5 },
      { address: 'a.example/10.0.0.1:6864', lastSeen: 5 },
      { address: 'b.example/<unresolved>:6864', lastSeen: 5 },
    ],
  );
  t.strictSame(['10.0.0.9:6864', '[::1]:6864', 'b.example:6864'].map(hostText), [
    '/10.0.0.9',
    '/::1',
    'b.example/<unresolved>',
  ]);
});
