// A signer that answers a question for its keys after its time, and one that signs wrongly.
import t from 'tap';
import { apiError } from '../../src/base/errors.ts';
import type { Line, LineEvents } from '../../src/base/signer/signer-line.ts';
import { SIGNED_KINDS } from '../../src/base/signer/signing.ts';
import { createFamily } from '../../src/crypto/families.ts';
import { FrameReader, frameOf } from '../../src/signer/frames.ts';
import { RemoteKeys } from '../../src/signer/remote-keys.ts';
import {
  type Answer,
  decodeQuestion,
  encodeAnswer,
  QUESTION_BYTES_MAX,
} from '../../src/signer/signer-messages.ts';
import { seededRandom } from '../crypto/random.ts';
import { silent } from '../finality/schedule.ts';
import { scheme } from '../finality/vectors.ts';
import { fakeClock } from '../node/fake-clock.ts';
import { memoryLog } from '../node/memory-ports.ts';

const TIMEOUT_MS = 1_000;
const RECONNECTED_MS = 500;
const FRAME_BYTES_MAX = QUESTION_BYTES_MAX + 1000;
const family = createFamily('curve25519');
const [OLD, NEW] = [1, 2].map((byte) => new Uint8Array(32).fill(byte)) as [Uint8Array, Uint8Array];

t.test('a late answer is not that to the next question', async (t) => {
  const clock = fakeClock(0);
  const lines: { readonly tell: (key: Uint8Array) => void }[] = [];
  let questions = 0;
  const connect = (events: LineEvents, opened: (line: Line) => void): Line => {
    let isOpen = true;
    const line: Line = {
      waitingBytes: () => 0,
      send: () => {
        questions++;
      },
      close() {
        isOpen = false;
        queueMicrotask(() => events.closed('it was closed'));
      },
    };
    const answer = (key: Uint8Array) => frameOf(encodeAnswer(0, { keys: [key] }, scheme));
    lines.push({ tell: (key) => isOpen && events.data(answer(key)) });
    queueMicrotask(() => opened(line));
    return line;
  };
  const options = {
    genesis: new Uint8Array(32),
    consensus: new Uint8Array(32),
    timeoutMs: TIMEOUT_MS,
  };
  const keys = new RemoteKeys(options, { scheme, clock, log: silent, connect });
  const started = keys.start();
  await clock.advance(0);
  lines[0]!.tell(OLD);
  await started;

  const unanswered = t.rejects(keys.refresh(), apiError('SignerAway'));
  await clock.advance(TIMEOUT_MS);
  await unanswered;
  t.match(keys.problem(), 'the signer does not answer');
  await clock.advance(RECONNECTED_MS);
  lines.at(-1)!.tell(OLD);
  t.equal(keys.problem(), undefined);

  const asked = questions;
  let isAnswered = false;
  const refreshed = keys.refresh().then(() => {
    isAnswered = true;
  });
  t.equal(questions, asked + 1);
  lines[0]!.tell(OLD);
  await clock.advance(1);
  t.notOk(isAnswered, 'by the connection that was left');
  lines.at(-1)!.tell(NEW);
  await refreshed;
  t.strictSame(keys.publicKeys(), [NEW]);
  keys.stop();
});

t.test('a signature that is wrong leaves nobody', async (t) => {
  const clock = fakeClock(0);
  const keyPair = family.keyPairFromPhrase('whose signer is faulty', 0);
  const address = scheme.addressOf(keyPair.publicKey);
  const good = (message: Uint8Array) => family.sign(keyPair.privateKey, message, seededRandom('s'));
  let isFaulty = false;
  const connect = (events: LineEvents, opened: (line: Line) => void): Line => {
    const reader = new FrameReader(FRAME_BYTES_MAX);
    const answer = (id: number, answer: Answer) =>
      events.data(frameOf(encodeAnswer(id, answer, scheme)));
    const line: Line = {
      waitingBytes: () => 0,
      close() {},
      send(bytes) {
        for (const body of reader.take(bytes)) {
          const question = decodeQuestion(body, scheme);
          if ('greeting' in question) answer(question.id, { keys: [keyPair.publicKey] });
          else {
            const signature = good(question.toSign.message);
            if (isFaulty) signature[3]! ^= 1;
            answer(question.id, { signature });
          }
        }
      },
    };
    queueMicrotask(() => opened(line));
    return line;
  };
  const options = {
    genesis: new Uint8Array(32),
    consensus: new Uint8Array(32),
    timeoutMs: TIMEOUT_MS,
  };
  const log = memoryLog();
  const keys = new RemoteKeys(options, { scheme, clock, log, connect });
  await keys.start();
  const vote = new TextEncoder().encode('a vote');
  t.strictSame(await keys.sign('vote', address, vote), good(vote));
  isFaulty = true;
  for (const kind of SIGNED_KINDS) {
    await t.rejects(keys.sign(kind, address, vote), apiError('SignerAway'), kind);
  }
  t.equal(log.of('signer.wrong-signature').length, SIGNED_KINDS.length);
  isFaulty = false;
  t.strictSame(await keys.sign('vote', address, vote), good(vote));
  keys.stop();
});
