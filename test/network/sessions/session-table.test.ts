import t from 'tap';
import { type Placed, SessionTable } from '../../../src/network/sessions/session-table.ts';

const OWN = Uint8Array.of(5);
const LOWER = Uint8Array.of(1);
const HIGHER = Uint8Array.of(9);

function table(connectionsMax: number, configuredHost = '') {
  const closed: Placed[] = [];
  const sessions = new SessionTable<Placed>({
    ownAddress: OWN,
    connectionsMax,
    isConfigured: (_owner, host) => host === configuredHost,
  });
  function open(owner: Uint8Array, outbound: boolean, remoteHost = '10.0.0.1'): Placed {
    const close = (): void => {
      sessions.remove(session);
      closed.push(session);
    };
    const session: Placed = { owner, outbound, remoteHost, close };
    sessions.add(session);
    return session;
  }
  return { sessions, closed, open };
}

t.test('of two simultaneous connections both ends keep the same', async (t) => {
  const cases = [
    { owner: HIGHER, existing: false, dialled: true, place: undefined, why: 'own is lower' },
    { owner: HIGHER, existing: true, dialled: false, place: 'exists', why: 'own is lower' },
    { owner: LOWER, existing: true, dialled: false, place: undefined, why: 'own is higher' },
    { owner: LOWER, existing: false, dialled: true, place: 'exists', why: 'own is higher' },
    { owner: HIGHER, existing: true, dialled: true, place: 'exists', why: 'dialled twice' },
    { owner: LOWER, existing: false, dialled: false, place: 'exists', why: 'answered twice' },
  ];
  for (const { owner, existing, dialled, place, why } of cases) {
    const { sessions, closed, open } = table(1);
    const session = open(owner, existing);
    t.equal(sessions.makePlace({ owner, outbound: dialled, remoteHost: '10.0.0.1' }), place, why);
    t.strictSame(closed, place === undefined ? [session] : [], why);
  }
});

t.test('a full table', async (t) => {
  const { sessions, closed, open } = table(2, '10.0.0.9');
  const [, newest] = [open(LOWER, true), open(HIGHER, true)];
  const owner = Uint8Array.of(7);
  t.equal(sessions.makePlace({ owner, outbound: false, remoteHost: '10.0.0.3' }), 'full');
  t.equal(sessions.makePlace({ owner, outbound: false, remoteHost: '10.0.0.9' }), undefined);
  t.strictSame(closed, [newest], 'the newest makes room for a node of the configuration');

  const kept = table(1, '10.0.0.9');
  kept.open(LOWER, true, '10.0.0.9');
  t.equal(kept.sessions.makePlace({ owner, outbound: true, remoteHost: '10.0.0.9' }), 'full');
});

t.test('only the session of its owner is removed', async (t) => {
  const { sessions, open } = table(5);
  const first = open(LOWER, true);
  const second = open(LOWER, false);
  t.notOk(sessions.remove(first));
  t.equal(sessions.get(LOWER), second);
  t.ok(sessions.remove(second));
  t.notOk(sessions.remove(second));
  t.strictSame(sessions.all(), []);
});
