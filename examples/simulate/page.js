'use strict';
// What both pages need: the data, numbers as text, elements, and the choice of light or dark.
const page = (() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const count = new Intl.NumberFormat('en-GB').format;
  const fixed = (value, digits) => value.toLocaleString('en-GB', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const percent = (part, digits = 1) => fixed(part * 100, digits) + '\u00a0%';
  const short = value => value >= 1e9 ? fixed(value / 1e9, 2) + 'G' : value >= 1e6 ? fixed(value / 1e6, value >= 1e7 ? 1 : 2) + 'M'
    : value >= 1e4 ? fixed(value / 1e3, value >= 1e5 ? 0 : 1) + 'k' : count(Math.round(value));
  // Units of time: each from so many seconds on.
  const units = [['d', 86400, 129600], ['h', 3600, 6000], ['min', 60, 100], ['s', 1, 1], ['ms', .001, 0]];
  const unit = seconds => { const [name, size] = seconds > 0 ? units.find(one => seconds >= one[2]) : units[3]; return { name, size }; };
  const span = seconds => {
    const { name, size } = unit(seconds), value = seconds / size;
    return fixed(value, name === 'ms' || value === 0 || value >= 10 && name !== 'h' && name !== 'd' ? 0 : 1) + '\u00a0' + name;
  };
  const plain = value => value === 0 ? '0' : Number(value.toPrecision(6)).toString();

  const element = (tag, text, className) => {
    const made = document.createElement(tag);
    if (text !== undefined) { made.textContent = text; }
    if (className) { made.className = className; }
    return made;
  };
  const get = id => document.getElementById(id);
  const put = (id, text) => { get(id).textContent = text; };
  const tile = (label, big, small) => {
    const box = element('div', undefined, 'tile');
    box.append(element('dt', label), element('dd', big, 'big'), element('dd', small, 'small'));
    get('tiles').append(box);
  };
  const table = (id, heads, rows) => {
    const target = get(id);
    if (heads) { const head = element('thead'), row = element('tr'); heads.forEach(text => row.append(element('th', text))); head.append(row); target.append(head); }
    const body = element('tbody');
    rows.forEach(cells => { const row = element('tr'); cells.forEach(cell => { const made = element('td'); made.append(cell); row.append(made); }); body.append(row); });
    target.append(body);
  };
  // The colour of a variable of the style as it is now; a canvas knows no variables.
  const colour = name => {
    const probe = element('span');
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };

  const listeners = [];
  const themes = ['auto', 'light', 'dark'];
  const kept = () => { try { return localStorage.getItem('theme'); } catch { return null; } };
  let theme = themes.includes(kept()) ? kept() : 'auto';
  const wear = () => {
    document.documentElement.style.colorScheme = theme === 'auto' ? '' : theme;
    put('theme', `Colours: ${theme}`);
  };
  wear();
  const changed = () => listeners.forEach(listener => listener());
  get('theme').addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try { localStorage.setItem('theme', theme); } catch { /* a page from a file may keep nothing */ }
    wear();
    changed();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);

  return { data, count, fixed, percent, short, unit, span, plain, element, get, put, tile, table, colour, onTheme: listener => listeners.push(listener) };
})();
