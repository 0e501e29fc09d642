// Returns both sides of each diff that the page of a step's substeps shows, as text.
[...document.querySelectorAll('section')].map((section, i) => ['a', 'b'].map((letter) => {
  return [...section.querySelectorAll(`td.line[id^="s${i}${letter}"]`)]
      .map((cell) => {
        let code = cell.nextElementSibling;
        while (!code.classList.contains('code')) code = code.nextElementSibling;
        const copy = code.cloneNode(true);
        copy.querySelectorAll('.sign, .moved-to').forEach((it) => it.remove());
        return copy.textContent;
      })
      .join('\n');
}))
