"""The proof on the page: nothing is called verified before the verifier has run."""

import json

import numpy as np


def test_the_proof_is_made_checked_and_taken_away(open_page, story, tmp_path):
    story.create(name="proven")
    rng = np.random.default_rng(0)
    means = {("alpha", "a1"): 0.9, ("alpha", "a2"): 0.3, ("beta", "b1"): 0.5, ("gamma", "c1"): 0.1}
    lines = ["group,arm,profit,speed"]
    for (group, arm), mean in {**means, ("gamma", "c2"): 0.15}.items():
        for _ in range(900):
            lines.append(f"{group},{arm},{float(rng.random() < mean)},{float(rng.random() < mean)}")
    with story.served.client() as client:
        response = client.post(
            "/import", params={"study": "proven"}, content="\n".join(lines),
            headers={"Content-Type": "text/csv"},
        )  # fmt: skip
        assert response.status_code == 200, response.text
    page = open_page()
    story.enter(page, "proven", view="data")
    page.get_by_role("heading", name="Proof").wait_for()
    assert "verified" not in page.locator("#proof").inner_text().replace("bestgroup verify", "")
    assert not page.locator("#proof-files").is_visible()
    page.get_by_role("button", name="Make the proof").click()
    page.locator("#proof-files").wait_for()
    digest = page.locator("#proof-said").inner_text().removeprefix("verified ")
    assert f"verified {digest}" in page.locator("#proof-lines").inner_text()
    with page.expect_download() as taken:
        page.get_by_text("The proof (JSON)").click()
    taken.value.save_as(tmp_path / "proof.json")
    assert json.loads((tmp_path / "proof.json").read_text())["digest"] == digest
    story.shot(page, "proof")
