// Prints the first answer of the site's search to each question: node search.js SITE QUESTION...
const fs = require("fs");
const [site, ...questions] = process.argv.slice(2);
const workers = `${site}/assets/javascripts/workers`;
const listeners = {};
let answered;
globalThis.self = globalThis;
globalThis.location = { href: "http://localhost/" };
globalThis.addEventListener = (kind, listener) => (listeners[kind] = listener);
globalThis.postMessage = (message) => answered(message);
globalThis.importScripts = () => {};
const worker = fs.readdirSync(workers).find((name) => /^search\..*\.js$/.test(name));
(0, eval)(fs.readFileSync(`${workers}/${worker}`, "utf8"));
const ask = (type, data) =>
  new Promise((resolve) => {
    answered = resolve;
    listeners.message({ data: { type, data } });
  });
(async () => {
  const index = JSON.parse(fs.readFileSync(`${site}/search/search_index.json`));
  await ask(0, { config: index.config, docs: index.docs, options: { suggest: false } });
  for (const question of questions) {
    const found = await ask(2, question);
    console.log(found.data.items.length ? found.data.items[0][0].location : "");
  }
})();
