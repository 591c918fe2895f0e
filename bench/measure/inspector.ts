/**
 * Evaluates expressions in a running process, in its main thread and in its worker threads. The
 * process needs the flag `--inspect=PORT`.
 */
export interface Inspector {
  /** The value of the expression in the main thread, then in each worker that answers. */
  evaluate(expression: string): Promise<unknown[]>;
  close(): void;
}

interface Reply {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly sessionId?: string;
    readonly message?: string;
  };
  readonly result?: { readonly result?: { readonly value?: unknown } };
}

const WAIT_MS = 50;
const ATTEMPTS = 100;
const ANSWER_MS_MAX = 2000;

export async function openInspector(port: number): Promise<Inspector> {
  const socket = new WebSocket(await addressOf(port));
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const sessions = new Set<string>();
  const waiting = new Map<number, (value: unknown) => void>();
  let last = 0;

  const request = (method: string, params: unknown): { id: number; text: string } => {
    last += 1;
    return { id: last, text: JSON.stringify({ id: last, method, params }) };
  };
  const answered = ({ id, result }: Reply): void => {
    if (id === undefined) return;
    waiting.get(id)?.(result?.result?.value);
    waiting.delete(id);
  };
  socket.onmessage = ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    const { sessionId, message } = reply.params ?? {};
    if (reply.method === 'NodeWorker.attachedToWorker' && sessionId !== undefined) {
      sessions.add(sessionId);
    } else if (reply.method === 'NodeWorker.detachedFromWorker' && sessionId !== undefined) {
      sessions.delete(sessionId);
    } else if (reply.method === 'NodeWorker.receivedMessageFromWorker' && message !== undefined) {
      answered(JSON.parse(message) as Reply);
    } else {
      answered(reply);
    }
  };
  socket.send(request('NodeWorker.enable', { waitForDebuggerOnStart: false }).text);

  return {
    evaluate(expression) {
      const params = { expression, returnByValue: true };
      const answers = [undefined, ...sessions].map((sessionId) => {
        const { id, text } = request('Runtime.evaluate', params);
        const answer = new Promise<unknown>((resolve) => {
          waiting.set(id, resolve);
          setTimeout(resolve, ANSWER_MS_MAX).unref();
        });
        const outer = { sessionId, message: text };
        socket.send(
          sessionId === undefined ? text : request('NodeWorker.sendMessageToWorker', outer).text,
        );
        return answer;
      });
      return Promise.all(answers);
    },
    close: () => socket.close(),
  };
}

async function addressOf(port: number): Promise<string> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    try {
      const response = await fetch(`http://127.0.0.1:${port}/json/list`);
      const [first] = (await response.json()) as { webSocketDebuggerUrl: string }[];
      if (first !== undefined) return first.webSocketDebuggerUrl;
    } catch {
      // It is not listening yet.
    }
  }
  throw new Error('the process does not open its inspector');
}
