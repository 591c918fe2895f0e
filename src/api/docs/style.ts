/** Looks of the page; colours follow the reader's preference. */
export const style = `:root {
  color-scheme: light dark;
  --line: light-dark(#d8dce2, #3a3f47);
  --soft: light-dark(#f5f6f8, #202329);
  --get: light-dark(#0b6bcb, #6db3f8);
  --post: light-dark(#1a7f37, #5fc27e);
  --bad: light-dark(#b3261e, #ff8a80);
}
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; }
header {
  align-items: center; background: Canvas; border-bottom: 1px solid var(--line); display: flex;
  flex-wrap: wrap; gap: .5rem 1.5rem; padding: .75rem 1.25rem; position: sticky; top: 0; z-index: 1;
}
h1 { font-size: 1.1rem; margin: 0 auto 0 0; }
h1 small { font-weight: 400; opacity: .7; }
h2 { font-size: 1rem; margin: 1.75rem 0 .5rem; text-transform: capitalize; }
main { margin: 0 auto; max-width: 62rem; padding: 0 1.25rem 4rem; }
input, textarea, button { border: 1px solid var(--line); border-radius: 4px; font: inherit; padding: .3rem .5rem; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .35rem 0; }
summary { cursor: pointer; display: flex; flex-wrap: wrap; gap: .25rem .75rem; padding: .45rem .75rem; }
summary:hover { background: var(--soft); }
summary code { font-weight: 600; }
summary .doc { flex-basis: 100%; opacity: .8; }
.method { font: 600 .8rem/1.7 ui-monospace, monospace; min-width: 3rem; }
.get { color: var(--get); }
.post { color: var(--post); }
.lock { margin-left: auto; opacity: .7; font-size: .85rem; }
form { border-top: 1px solid var(--line); display: grid; gap: .6rem; padding: .75rem; }
form label { display: grid; gap: .15rem; }
form label span { font-size: .85rem; opacity: .8; }
textarea { font: 13px/1.45 ui-monospace, monospace; min-height: 7rem; resize: vertical; }
button { background: var(--soft); cursor: pointer; justify-self: start; padding: .3rem 1.25rem; }
pre {
  background: var(--soft); border-radius: 4px; font-size: 13px; margin: 0; max-height: 28rem;
  overflow: auto; padding: .6rem; white-space: pre-wrap; word-break: break-word;
}
.bad { color: var(--bad); }
`;
