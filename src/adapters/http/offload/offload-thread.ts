/** A thread of offload-threads.ts: does its part of each request, in the order of arrival. */
import type { MessagePort } from 'node:worker_threads';
import type { HttpReply, OffloadWork } from '../../../base/ports/http.ts';
import { giveWay } from '../../threads/priorities.ts';
import { useAllProcessors } from '../../threads/processors.ts';
import {
  type BodyBatch,
  type FromOffloadThread,
  type OffloadResult,
  READY,
} from './offload-messages.ts';

export function serveOffload(port: MessagePort, work: OffloadWork): void {
  void useAllProcessors();
  giveWay('background');
  port.on('message', ({ buffer, ends }: BodyBatch) => {
    const bodies = ends.map((end, i) => {
      const begin = ends[i - 1] ?? 0;
      return new Uint8Array(buffer, begin, end - begin);
    });
    const results = work(bodies).map((done, i) => resultOf(done, bodies[i]!));
    port.postMessage(results satisfies FromOffloadThread);
  });
  port.postMessage(READY satisfies FromOffloadThread);
}

function resultOf(done: ReturnType<OffloadWork>[number], body: Uint8Array): OffloadResult {
  if (done === undefined) return { whole: Uint8Array.from(body) };
  return 'message' in done
    ? { message: done.message, reply: plain(done.reply()) }
    : { refusal: plain(done) };
}

/** As data that can travel. */
const plain = ({ status, type, body, headers = [] }: HttpReply): HttpReply => ({
  status,
  type,
  body,
  headers,
});
