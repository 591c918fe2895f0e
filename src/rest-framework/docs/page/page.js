// The page of the interface description. It lists the endpoints by group and sends requests. Data
// never become markup, so an answer of the node cannot run as code.
const byId = (id) => document.getElementById(id);
const groups = byId('groups');

function element(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

const resolve = (schema, doc) =>
  schema?.$ref ? (doc.components.schemas[schema.$ref.split('/').pop()] ?? {}) : (schema ?? {});

/** An example value of the right shape. */
function sample(given, doc, depth = 0) {
  const schema = resolve(given, doc);
  if (depth > 4) return null;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf || schema.oneOf)
    return sample((schema.anyOf ?? schema.oneOf)[0], doc, depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object') {
    const entries = Object.entries(schema.properties ?? {});
    return Object.fromEntries(entries.map(([key, value]) => [key, sample(value, doc, depth + 1)]));
  }
  if (type === 'array') return [sample(schema.items, doc, depth + 1)];
  return { integer: 0, number: 0, boolean: false, string: '' }[type] ?? null;
}

/** Indents JSON without reading its numbers, which may have more digits than a double. */
function pretty(text) {
  let out = '';
  let level = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (quoted) {
      out += char;
      if (char === '\\') out += text[++i] ?? '';
      else if (char === '"') quoted = false;
    } else if (char === '"') {
      quoted = true;
      out += char;
    } else if (char === '{' || char === '[') {
      const closed = text[i + 1] === '}' || text[i + 1] === ']';
      out += closed ? char + text[++i] : `${char}\n${'  '.repeat(++level)}`;
    } else if (char === '}' || char === ']') {
      level = Math.max(0, level - 1);
      out += `\n${'  '.repeat(level)}${char}`;
    } else if (char === ',') out += `,\n${'  '.repeat(level)}`;
    else if (char === ':') out += ': ';
    else if (char.trim() !== '') out += char;
  }
  return out;
}

async function send(operation, fields, body, output) {
  let path = operation.path;
  const query = new URLSearchParams();
  for (const { parameter, input } of fields) {
    if (parameter.in === 'path') {
      path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    } else if (input.value !== '') query.set(parameter.name, input.value);
  }
  const headers = { Accept: 'application/json' };
  const key = byId('key').value;
  if (key !== '') headers['X-API-Key'] = key;
  const request = { method: operation.method.toUpperCase(), headers };
  if (body && operation.method === 'post') {
    headers['Content-Type'] = body.type;
    request.body = body.input.value;
  }
  const url = query.size > 0 ? `${path}?${query}` : path;
  const start = performance.now();
  output.hidden = false;
  output.textContent = '…';
  try {
    const response = await fetch(url, request);
    const text = await response.text();
    const took = Math.round(performance.now() - start);
    const json = (response.headers.get('content-type') ?? '').includes('json');
    output.className = response.ok ? '' : 'bad';
    const line = `${response.status} · ${took} ms · ${request.method} ${url}`;
    output.textContent = `${line}\n\n${json ? pretty(text) : text}`;
  } catch (error) {
    output.className = 'bad';
    output.textContent = String(error);
  }
}

function form(operation, doc) {
  const fields = (operation.parameters ?? []).map((parameter) => {
    const input = element('input', { name: parameter.name, required: parameter.required });
    const about = parameter.required ? parameter.name : `${parameter.name} (optional)`;
    const text = element('span', { textContent: `${about}: ${parameter.description}` });
    return { parameter, input, label: element('label', {}, text, input) };
  });
  const content = Object.entries(operation.requestBody?.content ?? {})[0];
  let body;
  if (content) {
    const start =
      content[0] === 'text/plain' ? '' : JSON.stringify(sample(content[1].schema, doc), null, 2);
    body = { type: content[0], input: element('textarea', { value: start, spellcheck: false }) };
  }
  const output = element('pre', { hidden: true });
  output.setAttribute('aria-live', 'polite');
  const node = element('form', {}, ...fields.map((field) => field.label));
  if (body) {
    const about = element('span', { textContent: `Body, ${body.type}` });
    node.append(element('label', {}, about, body.input));
  }
  node.append(element('button', { textContent: 'Send' }), output);
  node.addEventListener('submit', (event) => {
    event.preventDefault();
    send(operation, fields, body, output);
  });
  return node;
}

function entry(operation, doc) {
  const { method, path, summary, description } = operation;
  const line = element(
    'summary',
    {},
    element('span', { className: `method ${method}`, textContent: method.toUpperCase() }),
    element('code', { textContent: path }),
  );
  if (operation.security.length > 0) {
    line.append(element('span', { className: 'lock', textContent: 'key', title: description }));
  }
  line.append(element('span', { className: 'doc', textContent: `${summary} ${description}` }));
  const node = element('details', { id: operation.operationId }, line);
  node.addEventListener('toggle', () => {
    if (node.open && node.childElementCount === 1) node.append(form(operation, doc));
    if (node.open) history.replaceState(null, '', `#${node.id}`);
  });
  return node;
}

function show(doc) {
  byId('version').textContent = doc.info.version;
  const operations = Object.entries(doc.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  );
  const sections = doc.tags.map(({ name }) => {
    const own = operations.filter((operation) => operation.tags.includes(name));
    const nodes = own.map((operation) => entry(operation, doc));
    return element('section', {}, element('h2', { textContent: name }), ...nodes);
  });
  groups.replaceChildren(...sections);
  groups.removeAttribute('aria-busy');
  byId('search').addEventListener('input', (event) => filter(sections, event.target.value));
  const chosen = location.hash && byId(location.hash.slice(1));
  if (chosen) {
    chosen.open = true;
    chosen.scrollIntoView();
  }
}

function filter(sections, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const section of sections) {
    let any = false;
    for (const node of section.querySelectorAll('details')) {
      const content = node.querySelector('summary').textContent.toLowerCase();
      node.hidden = !words.every((word) => content.includes(word));
      any ||= !node.hidden;
    }
    section.hidden = !any;
  }
}

fetch('swagger.json')
  .then((response) => response.json())
  .then(show)
  .catch((error) => {
    groups.replaceChildren(element('p', { className: 'bad', textContent: String(error) }));
  });
