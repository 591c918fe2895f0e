import t from 'tap';
import type { PeerConnection } from '../../../src/base/ports/network.ts';
import {
  EARLY_STREAMS_MAX,
  UnprovedConnections,
} from '../../../src/network/sessions/unproved-connections.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const HANDSHAKE_MS = 1000;

interface Line {
  readonly connection: PeerConnection;
  readonly isAborted: () => boolean;
}

function line(outbound: boolean, remoteHost = '10.0.0.1'): Line {
  const listeners: (() => void)[] = [];
  let aborted = false;
  const connection: PeerConnection = {
    localId: Uint8Array.of(1),
    remoteId: Uint8Array.of(2),
    remoteHost,
    remotePort: 1,
    outbound,
    open: () => Promise.reject(new Error('no stream')),
    close: async () => {},
    abort() {
      if (aborted) return;
      aborted = true;
      for (const listener of listeners) listener();
    },
    onClose: (action) => void listeners.push(action),
  };
  return { connection, isAborted: () => aborted };
}

function unproved() {
  const clock = fakeClock(0);
  const options = { handshakeMs: HANDSHAKE_MS, isKept: () => false };
  return { clock, all: new UnprovedConnections<string>(options, clock) };
}

t.test('one handshake, and on a connection of others only', async (t) => {
  const { all } = unproved();
  const [own, other] = [line(true), line(false)];
  all.arrive(other.connection);
  t.ok(all.beginHandshake(other.connection));
  t.notOk(all.beginHandshake(other.connection), 'a second one');
  t.notOk(all.beginHandshake(own.connection), 'this node has dialled');
});

t.test('a connection that says nothing ends', async (t) => {
  const { all, clock } = unproved();
  const [silent, busy] = [line(false), line(false)];
  all.arrive(silent.connection);
  all.arrive(busy.connection);
  all.beginHandshake(busy.connection);
  await clock.advance(HANDSHAKE_MS - 1);
  t.notOk(silent.isAborted());
  await clock.advance(1);
  t.ok(silent.isAborted());
  t.notOk(busy.isAborted(), 'the handshake has a limit of its own');
  t.equal(await all.sessionOf(silent.connection), undefined);
});

t.test('what it becomes is decided once', async (t) => {
  const { all } = unproved();
  const [good, bad] = [line(false), line(false)];
  for (const { connection } of [good, bad]) all.arrive(connection);
  all.succeed(good.connection, 'session');
  all.fail(good.connection);
  all.fail(bad.connection);
  t.equal(await all.sessionOf(good.connection), 'session');
  t.equal(await all.sessionOf(bad.connection), undefined);
});

t.test('streams that come before the session', async (t) => {
  const { all } = unproved();
  const [own, other] = [line(true), line(false)];
  t.notOk(all.mayOpenStream(other.connection), 'who dials knows when the handshake is over');
  for (let i = 0; i < EARLY_STREAMS_MAX; i++) {
    t.ok(all.mayOpenStream(own.connection), 'who answers may be faster');
  }
  t.notOk(own.isAborted());
  t.notOk(all.mayOpenStream(own.connection));
  t.ok(own.isAborted(), 'one too many');

  const session = line(false);
  all.succeed(session.connection, 'session');
  for (let i = 0; i < 100; i++) t.ok(all.mayOpenStream(session.connection));
});
