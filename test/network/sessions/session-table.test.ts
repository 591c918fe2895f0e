import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import {
  type NetworkMiners,
  type Placed,
  SessionTable,
} from '../../../src/network/sessions/session-table.ts';

const OWN = Uint8Array.of(5);
const LOWER = Uint8Array.of(1);
const HIGHER = Uint8Array.of(9);
const NO_MINERS: NetworkMiners = { others: [], isMiner: false };

const applicant = (
  owner: Uint8Array,
  outbound: boolean,
  remoteHost = '10.0.0.1',
  miner = owner,
) => ({
  owner,
  miner,
  mode: 'default' as const,
  outbound,
  remoteHost,
});

function table(connectionsMax: number, configuredHost = '', miners = NO_MINERS) {
  const closed: Placed[] = [];
  const sessions = new SessionTable<Placed>({
    ownAddress: OWN,
    connectionsMax,
    isConfigured: (_owner, host) => host === configuredHost,
    miners: () => miners,
  });
  function open(
    owner: Uint8Array,
    outbound: boolean,
    remoteHost = '10.0.0.1',
    miner = owner,
  ): Placed {
    const close = (): void => {
      sessions.remove(session);
      closed.push(session);
    };
    const session: Placed = { ...applicant(owner, outbound, remoteHost, miner), close };
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
    t.equal(sessions.makePlace(applicant(owner, dialled)), place, why);
    t.strictSame(closed, place === undefined ? [session] : [], why);
  }
});

t.test('a full table', async (t) => {
  const { sessions, closed, open } = table(2, '10.0.0.9');
  const [, newest] = [open(LOWER, true), open(HIGHER, true)];
  const owner = Uint8Array.of(7);
  t.equal(sessions.makePlace(applicant(owner, false, '10.0.0.3')), 'full');
  t.equal(sessions.makePlace(applicant(owner, false, '10.0.0.9')), undefined);
  t.strictSame(closed, [newest], 'the newest makes room for a node of the configuration');

  const kept = table(1, '10.0.0.9');
  kept.open(LOWER, true, '10.0.0.9');
  t.equal(kept.sessions.makePlace(applicant(owner, true, '10.0.0.9')), 'full');
});

t.test('a full table, and miners', async (t) => {
  const [first, second, third] = [20, 21, 22].map((byte) => Uint8Array.of(byte)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const others = [first, second, third];
  const { sessions, closed, open } = table(1, '10.0.0.9', { others, isMiner: false });
  const plain = open(LOWER, true);
  t.equal(sessions.makePlace(applicant(HIGHER, false)), 'full');
  t.strictSame(sessions.room(), { forAnybody: false, forConfigured: true, forMiners: new Set() });
  t.equal(sessions.makePlace(applicant(first, false)), undefined);
  t.strictSame(closed, [plain], 'a miner replaces one that is none');
  const miner = open(first, false);
  t.equal(sessions.makePlace(applicant(second, false)), 'full', 'but no other miner');
  t.equal(sessions.makePlace(applicant(HIGHER, true, '10.0.0.9')), undefined);
  t.strictSame(closed, [plain, miner], 'a configured node replaces a miner');

  const own = table(1, '10.0.0.9', { others, isMiner: true });
  for (const one of [LOWER, first, second]) {
    t.equal(own.sessions.makePlace(applicant(one, false)), undefined);
    own.open(one, false);
  }
  t.strictSame(own.closed, [], 'other miners are beside the others on a miner');
  t.equal(own.sessions.makePlace(applicant(HIGHER, false)), 'full');
  const standby = applicant(HIGHER, false, '10.0.0.1', first);
  t.equal(own.sessions.makePlace({ ...standby, mode: 'watcher' }), 'full', 'a watcher is none');
  t.ok(own.sessions.hasPlaceFor(standby));
  t.equal(own.sessions.makePlace(standby), undefined, 'a second node of it');
  own.open(HIGHER, false, '10.0.0.1', first);
  const more = applicant(Uint8Array.of(8), false, '10.0.0.1', first);
  t.notOk(own.sessions.hasPlaceFor(more));
  t.equal(own.sessions.makePlace(more), 'full', 'no third one');
  const { forAnybody, forMiners } = own.sessions.room();
  t.strictSame([forAnybody, [...forMiners]], [false, [latin1(third)]], 'who is still lacked');
  const configured = applicant(Uint8Array.of(7), true, '10.0.0.9');
  t.equal(own.sessions.makePlace(configured), undefined);
  t.strictSame(
    own.closed.map(({ owner }) => owner),
    [LOWER],
    'no miner leaves for a configured node',
  );
});

t.test('miners take half of the places of a node that is none', async (t) => {
  const accounts = [20, 21, 22, 23].map((byte) => Uint8Array.of(byte));
  const { sessions, closed, open } = table(4, '', { others: accounts, isMiner: false });
  for (const byte of [1, 2, 3, 4]) open(Uint8Array.of(byte), false);
  const places = accounts.map((account) => {
    const place = sessions.makePlace(applicant(account, false));
    if (place === undefined) open(account, false);
    return place;
  });
  t.strictSame(places, [undefined, undefined, 'full', 'full']);
  t.strictSame(
    closed.map(({ owner }) => owner[0]),
    [4, 3],
  );
});

t.test('of two connections one is left, although there are more than allowed', async (t) => {
  const miners = { others: [HIGHER], isMiner: true };
  const { sessions, open } = table(1, '', miners);
  open(LOWER, false);
  open(HIGHER, false);
  Object.assign(miners, { others: [] });
  t.equal(sessions.makePlace(applicant(HIGHER, true)), undefined);
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
