/** A client of server-sent events, as far as the stream of transactions needs one. */
import type { Scope } from '../../system/e2e/process.ts';

export interface StreamEvent {
  readonly type: string;
  readonly data: Record<string, unknown>;
}

export interface EventClient {
  readonly status: number;
  readonly events: readonly StreamEvent[];
  /** With which the client goes on. */
  lastId(): string;
  /** Resolves once there are events for which this holds; rejects after a while. */
  until(holds: (events: readonly StreamEvent[]) => boolean): Promise<void>;
  /** Resolves when the server has ended the answer. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const WAIT_MS = 20;
const WAIT_MS_MAX = 30_000;

export async function eventClient(
  scope: Scope,
  url: string,
  lastId = '',
  more: Record<string, string> = {},
): Promise<EventClient> {
  const leaving = new AbortController();
  const headers = { ...more, ...(lastId === '' ? {} : { 'last-event-id': lastId }) };
  const answer = await fetch(url, { headers, signal: leaving.signal });
  const events: StreamEvent[] = [];
  let last = lastId;
  let rest = '';
  const take = (block: string): void => {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? [];
      fields.set(name, value);
    }
    last = fields.get('id') ?? last;
    const data = fields.get('data');
    if (data === undefined) return;
    events.push({ type: fields.get('event') ?? 'message', data: JSON.parse(data) });
  };
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) take(block);
    }
  })().catch(() => undefined);
  const close = async (): Promise<void> => {
    leaving.abort();
    await ended;
  };
  scope.teardown(close);
  return {
    status: answer.status,
    events,
    lastId: () => last,
    async until(holds) {
      for (let waited = 0; !holds(events); waited += WAIT_MS) {
        if (waited > WAIT_MS_MAX) throw new Error(`in vain: ${JSON.stringify(events.slice(-3))}`);
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      }
    },
    ended,
    close,
  };
}
