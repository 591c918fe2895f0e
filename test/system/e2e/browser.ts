/**
 * A real Chromium without a window, controlled over its debugging protocol without a package. It
 * can open pages, press keys and read the result.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import t from 'tap';
import { leftOut } from '../../left-out.ts';
import { temporaryFolder } from './dev-node.ts';
import { eventually, type Scope } from './process.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--remote-debugging-port=0',
];

/** The name of a Chromium of this machine. */
const chromium = NAMES.find(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
);

/** Why a test in a browser is left out; false where it runs. */
export const withoutBrowser = chromium === undefined && leftOut('this machine has no Chromium');

export interface PageOptions {
  readonly width?: number;
  readonly dark?: boolean;
}

export interface Page {
  /** The value of a script in the page. */
  evaluate<T>(script: string): Promise<T>;
  /** Waits until the script gives something true. */
  until(script: string): Promise<void>;
  /** What a reader sees. */
  text(): Promise<string>;
  goto(url: string): Promise<void>;
  press(key: string): Promise<void>;
  type(text: string): Promise<void>;
  /** The whole page as PNG. */
  screenshot(): Promise<Uint8Array>;
  /** Exceptions, and what the content policy has blocked. */
  readonly problems: readonly string[];
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
  readonly sessionId?: string;
}

type Send = (
  method: string,
  params?: object,
  sessionId?: string,
) => Promise<Record<string, unknown>>;

/**
 * Another page of the explorer. It is marked as busy first, since it hears of the new place a moment
 * later.
 */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(
    `document.getElementById('main').setAttribute('aria-busy', 'true');
    location.hash = ${JSON.stringify(hash)}`,
  );
  await page.until(`document.querySelector('main[aria-busy]') === null`);
}

interface Browser {
  readonly send: Send;
  /** Told of each message that answers no call. */
  readonly watchers: Set<(message: Message) => void>;
}

let browser: Promise<Browser> | undefined;

/** A new page, which nothing that another one has stored can reach. It ends with the test. */
export async function openPage(
  scope: Scope,
  url: string,
  options: PageOptions = {},
): Promise<Page> {
  browser ??= startBrowser();
  const problems: string[] = [];
  const send = await session(scope, await browser, problems);
  await send('Emulation.setDeviceMetricsOverride', {
    width: options.width ?? 1280,
    height: 900,
    deviceScaleFactor: 1,
    mobile: false,
  });
  // A phone has none, and on a picture they hide the margin.
  await send('Emulation.setScrollbarsHidden', { hidden: true });
  const value = options.dark === true ? 'dark' : 'light';
  const features = [{ name: 'prefers-color-scheme', value }];
  await send('Emulation.setEmulatedMedia', { features });
  const page = pageOf(send, problems);
  await page.goto(url);
  return page;
}

/** One for all pages of a test file, since a start costs more than most of them do. */
async function startBrowser(): Promise<Browser> {
  if (chromium === undefined) throw new Error('this machine has no Chromium');
  const child = spawn(chromium, [...FLAGS, `--user-data-dir=${temporaryFolder(t)}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const socket = new WebSocket(await addressOf(child));
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  t.teardown(async () => {
    socket.close();
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
  });
  return browserOf(socket);
}

function addressOf(child: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      const found = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`Chromium ended: ${text}`)));
  });
}

function browserOf(socket: WebSocket): Browser {
  let last = 0;
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  const watchers: Browser['watchers'] = new Set();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id === undefined) {
      for (const watch of watchers) watch(message);
      return;
    }
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error !== undefined) call?.reject(new Error(message.error.message));
    else call?.resolve(message.result ?? {});
  });
  const send: Send = (method, params = {}, sessionId = undefined) => {
    const call = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(++last, call);
    socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    return call.promise;
  };
  return { send, watchers };
}

/** Attaches to a new page; collects what goes wrong in it. */
async function session(
  scope: Scope,
  { send, watchers }: Browser,
  problems: string[],
): Promise<Send> {
  // A browser context is to a page what a new profile is.
  const { browserContextId } = await send('Target.createBrowserContext');
  const { targetId } = await send('Target.createTarget', { url: 'about:blank', browserContextId });
  const attached = await send('Target.attachToTarget', { targetId, flatten: true });
  const sessionId = String(attached['sessionId']);
  const watch = (message: Message): void => {
    const problem = message.sessionId === sessionId ? problemIn(message) : undefined;
    if (problem !== undefined) problems.push(problem);
  };
  watchers.add(watch);
  scope.teardown(async () => {
    watchers.delete(watch);
    await send('Target.disposeBrowserContext', { browserContextId });
  });
  const ofPage: Send = (method, params) => send(method, params, sessionId);
  for (const domain of ['Page', 'Runtime', 'Log']) await ofPage(`${domain}.enable`);
  return ofPage;
}

function problemIn({ method, params }: Message): string | undefined {
  if (method === 'Runtime.exceptionThrown') return JSON.stringify(params);
  const entry = params?.['entry'] as { level: string; source: string; text: string } | undefined;
  // That a request is answered with 404 is part of a search.
  const isProblem = method === 'Log.entryAdded' && entry?.level === 'error';
  return isProblem && entry.source !== 'network' ? entry.text : undefined;
}

function pageOf(send: Send, problems: readonly string[]): Page {
  async function evaluate<T>(expression: string): Promise<T> {
    const answer = await send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (answer['exceptionDetails'] !== undefined) {
      throw new Error(JSON.stringify(answer['exceptionDetails']));
    }
    return (answer['result'] as { value: T }).value;
  }
  const until = (script: string): Promise<void> =>
    eventually(script, async () => ((await evaluate(script)) ? true : undefined)).then(() => {});
  return {
    problems,
    evaluate,
    until,
    text: () => evaluate<string>('document.body.innerText'),
    async goto(url) {
      await send('Page.navigate', { url });
      // Before its end has arrived a document has no such element at all.
      await until(`document.querySelector('main:not([aria-busy])') !== null`);
    },
    async press(key) {
      const text = key.length === 1 ? key : key === 'Enter' ? '\r' : undefined;
      const windowsVirtualKeyCode = { Enter: 13, Tab: 9 }[key];
      await send('Input.dispatchKeyEvent', { type: 'keyDown', key, text, windowsVirtualKeyCode });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', key, windowsVirtualKeyCode });
    },
    type: async (text) => void (await send('Input.insertText', { text })),
    async screenshot() {
      const { data } = await send('Page.captureScreenshot', { captureBeyondViewport: true });
      return Buffer.from(String(data), 'base64');
    },
  };
}
