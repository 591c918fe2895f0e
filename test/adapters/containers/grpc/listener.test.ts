// A stream that its client leaves open is ended, and holds nothing afterwards.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:http2';
import { connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { frame, nothingHeld } from '../../../../src/adapters/containers/grpc/frames.ts';
import { listenGrpc } from '../../../../src/adapters/containers/grpc/listener.ts';
import { GrpcRefusal } from '../../../../src/adapters/containers/grpc/status.ts';
import { KIB, MIB } from '../../../../src/base/limits/budget.ts';
import { contractLimits as limits } from '../../../../src/base/limits/contract-limits.ts';
import { fakeClock } from '../../../node/fake-clock.ts';
import type { Scope } from './opened.ts';

/** A listener that answers with a mebibyte, or refuses, and a client of it. */
async function listening(t: Scope) {
  const folder = mkdtempSync(join(tmpdir(), 'grpc-'));
  const path = join(folder, 'socket');
  const clock = fakeClock(0);
  const held = nothingHeld();
  const listener = await listenGrpc(
    { path },
    1,
    {
      connected: () => undefined,
      disconnected: () => undefined,
      begin(_, path) {
        if (path !== '/good') throw new GrpcRefusal('UNIMPLEMENTED', 'no');
        return { held, messageBytesMax: KIB, unary: () => new Uint8Array(MIB) };
      },
    },
    clock,
  );
  const http = connect('http://localhost', { createConnection: () => dial(path) });
  http.on('error', () => {});
  t.teardown(async () => {
    http.destroy();
    await listener.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = (of: string) => {
    const headers = { ':method': 'POST', ':path': of, 'content-type': 'application/grpc' };
    return http.request(headers).on('error', () => {});
  };
  return { clock, held, ask };
}

t.test('an answer that nobody reads', async (t) => {
  const { clock, held, ask } = await listening(t);
  const stream = ask('/good');
  stream.end(frame(new Uint8Array(0)));
  await once(stream, 'response');
  t.equal(held.leaving, MIB);
  await clock.advance(limits.messageTime.value);
  while (held.leaving > 0) await turn();
  t.same(held, nothingHeld());
});

t.test('a refusal after which a client does not end', async (t) => {
  const { clock, ask } = await listening(t);
  const stream = ask('/refused').resume();
  const closed = once(stream, 'close');
  await once(stream, 'response');
  t.notOk(stream.closed, 'it may still send');
  await clock.advance(limits.messageTime.value);
  await t.resolves(closed);
});

t.test('a refusal after which a client goes on and on', async (t) => {
  const { ask } = await listening(t);
  const stream = ask('/refused').resume();
  const piece = new Uint8Array(64 * KIB);
  const sentMax = 4 * limits.message.value;
  let sent = 0;
  for (; !stream.closed && sent < sentMax; sent += piece.length) {
    await new Promise<void>((resolve) => void stream.write(piece, () => resolve()));
  }
  t.ok(sent > limits.message.value && sent < sentMax, `${sent} bytes`);
});
